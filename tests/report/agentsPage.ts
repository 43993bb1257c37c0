/** The page `docs/agents.md`, written from what tests say that they show of each agent: `// Shows claude, codex: images, resume.` above a test. */
import { agents as known, type AgentName } from '#domain/agents.ts'
import { agents } from '../../services/runner/agents/registry.ts'
import { ownKeyOf } from '../../services/runner/agents/installed.ts'

/** The words of the tags, in the order of the page, and what they mean. */
export const features = {
  streaming: 'Text is shown as it is written',
  thinking: 'Thinking is shown',
  todos: 'To-do list',
  context: 'How full the context is',
  questions: 'Asks the person questions',
  plan: 'Plans first, and waits for approval',
  ask: 'Asks before each change',
  steering: 'Takes messages within a turn',
  images: 'Takes images',
  mcp: 'MCP servers',
  commands: 'Skills and commands of the repository and the person',
  subagents: 'Subagents of the repository',
  cancel: 'Stops when it is cancelled',
  resume: 'Goes on in its session with the next message',
  restart: 'Goes on after a restart of the server',
} as const
export type Feature = keyof typeof features

export interface Shown {
  readonly agent: string
  readonly feature: string
}

const tag = /\/\/ Shows ([\w, ]+): ([\w, ]+)\.\n(?=(?: *\/\/.*\n)*\s*(?:test|describe)\b)/g

/** What the tests of a file show. */
export function shownIn(source: string): readonly Shown[] {
  return [...source.matchAll(tag)].flatMap(([, names = '', words = '']) =>
    names.split(', ').flatMap((agent) => words.split(', ').map((feature): Shown => ({ agent, feature }))),
  )
}

/** Where the key of its model is. */
function keyOf(name: AgentName): string {
  const { access } = agents[name]
  return access.kind === 'key' ? 'in the sandbox' : 'with the broker'
}

function takesSubscriptions(name: AgentName): string {
  const { access } = agents[name]
  return access.kind !== 'key' && access.subscriptions === true ? '✓' : ''
}

const introduction = `# Agents

What each agent can do here. Each ✓ is held by a test with the real program, or what it had printed, and a scripted model; \`cursor\` is a look-alike made from its documented format. The long tests hold what gemini does within the product. What an agent cannot do is not offered on its screens.

This page is generated: \`npx vitest run tests/report/agentsPage.spec.ts -u\` writes it anew from the tests (\`// Shows\`).`

const keys = `The broker replaces the token of the run with the real key, so that neither the key nor the token of a subscription is ever in the sandbox. A person's or a project's own key is kept in the vault. A key in the sandbox can be read by everything that runs there: use a separate one with a spending limit.`

export function agentsPage(shown: readonly Shown[]): string {
  const names = known.map(({ name }) => name)
  const row = (title: string, cells: readonly string[]) => `| ${[title, ...cells].join(' | ')} |`
  const can = (agent: AgentName, feature: string) =>
    shown.some((one) => one.agent === agent && one.feature === feature) ? '✓' : ''
  const table = [
    row(
      '',
      names.map((name) => `\`${name}\``),
    ),
    `|---|${names.map(() => '---|').join('')}`,
    ...Object.entries(features).map(([feature, words]) =>
      row(
        words,
        names.map((name) => can(name, feature)),
      ),
    ),
    row('Where the key is', names.map(keyOf)),
    row('Subscriptions of people', names.map(takesSubscriptions)),
    row(
      'Own keys of people and projects',
      names.map((name) => (ownKeyOf(agents[name].access) === undefined ? '' : '✓')),
    ),
  ]
  return `${[introduction, table.join('\n'), keys].join('\n\n')}\n`
}
