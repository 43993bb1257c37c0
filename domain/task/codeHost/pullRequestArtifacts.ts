/** The section of a pull request's description that names the artifacts of the task. */
import { code } from './pullRequestProposal.ts'

/** The most files that are named. */
const mostNamed = 50

/** The section in Markdown. Each name links to `address`, the task's page; the names are no links when `address` is `null`. */
export function artifactSection(names: readonly string[], address: string | null): string {
  const lines = names
    .slice(0, mostNamed)
    .map((name) => (address === null ? `- ${code(name)}` : `- [${code(name)}](${address})`))
  const others = names.length - mostNamed
  return ['## Artifacts', '', ...lines, ...(others > 0 ? [`- and ${others} more`] : [])].join('\n')
}
