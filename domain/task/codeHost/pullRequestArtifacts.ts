/** The part of a pull request's text that names the artifacts of its task. */
import { code } from './pullRequestProposal.ts'

/** The most files that are named. */
const mostNamed = 50

/** The names in Markdown, each a link to the task's page; without links when `address` is `null`. */
export function artifactSection(names: readonly string[], address: string | null): string {
  const lines = names
    .slice(0, mostNamed)
    .map((name) => (address === null ? `- ${code(name)}` : `- [${code(name)}](${address})`))
  const others = names.length - mostNamed
  return ['## Artifacts', '', ...lines, ...(others > 0 ? [`- and ${others} more`] : [])].join('\n')
}
