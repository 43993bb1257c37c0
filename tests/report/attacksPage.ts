/** The page `tests/data/attacks.md`, written from what tests say that they attempt: `// Attacks preview: a ticket is used twice.` above a test. */
import { tagsIn } from './testTags.ts'

/** The words of the tags, in the order of the page, and what they mean. */
export const attacked = {
  preview: 'Preview',
  shell: 'Shell',
  layers: 'Prepared environments',
  artifacts: 'Artifacts',
  services: 'Services',
  files: 'Files',
  detected: 'Detected settings',
  toolchains: 'Toolchains',
} as const

export interface Attack {
  readonly part: string
  readonly attempt: string
  /** From the root of the project. */
  readonly file: string
  /** The title with the groups around it; `null` when the comment is not above a test that runs. */
  readonly title: string | null
}

/** What the tests of a file attempt. */
export function attacksIn(source: string, file: string): readonly Attack[] {
  return tagsIn(source, /^\s*\/\/ Attacks (\w+: .+)\.$/, file).map(({ words, title }) => {
    const [part = '', attempt = ''] = words.split(/: (.*)/)
    return { part, attempt, file, title }
  })
}

const introduction = `# Attacks

What somebody may attempt against the parts of the product that show, run or keep what an agent or a repository has made, and the test in which it is refused or comes to nothing. [What Flightdeck defends against](../../docs/security.md) says where the boundaries are.

This page is generated: \`npx vitest run tests/report/attacksPage.spec.ts -u\` writes it anew from the tests (\`// Attacks\`).`

export function attacksPage(attacks: readonly Attack[]): string {
  const rows = Object.entries(attacked).flatMap(([part, name]) =>
    attacks
      .filter((attack) => attack.part === part)
      .map(({ attempt, file, title }) => [
        name,
        `${attempt.slice(0, 1).toUpperCase()}${attempt.slice(1)}`,
        `[${file.split('/').at(-1)}](../../${file}): ${title}`,
      ]),
  )
  const lines = [['Part', 'Attempt', 'Test'], ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`,
  )
  return `${introduction}\n\n${[lines[0], '|---|---|---|', ...lines.slice(1)].join('\n')}\n`
}
