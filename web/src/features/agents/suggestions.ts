/** The suggestions while a message is written: commands and skills at its beginning, files and subagents after an `@`. */
import { abilitiesFor, abilityMark } from '#domain/agents/abilities.ts'
import { slashCommandsOf } from '#domain/task/slashCommands.ts'
import type { Ability } from '#domain/api/abilities.schema.ts'
import type { AgentName } from '#domain/agents.ts'

export interface Suggestion {
  readonly id: string
  readonly label: string
  /** A placeholder for what may follow the label. */
  readonly argument: string | null
  readonly help: string
  /** The text that replaces the typed text. */
  readonly insert: string
}

export const texts = {
  commands: "The agent's commands",
  mentions: 'Files and subagents',
  whileWorking: 'While the agent works, commands wait until it finishes.',
  count: (count: number) => (count === 1 ? '1 suggestion' : `${count} suggestions`),
  from: { repository: 'From the repository', person: 'Your own', agent: '' },
  replaces: { person: 'instead of your own', agent: "instead of the agent's" },
  subagent: 'Subagent',
} as const

/**
 * The commands and skills whose name contains the typed text. `begins` says whether the message is the first of its task: commands of the agent that
 * need an earlier turn are then left out.
 */
export function commandSuggestions(
  agent: AgentName,
  abilities: readonly Ability[] | undefined,
  { typed, begins }: { readonly typed: string; readonly begins: boolean },
): readonly Suggestion[] {
  const mark = abilityMark(agent) ?? '/'
  const needsTurn = new Set(slashCommandsOf(agent).flatMap((one) => (one.needsTurn ? [one.name] : [])))
  const all = abilities ?? abilitiesFor(agent, [], [])
  const isOffered = ({ kind, name, from }: Ability) =>
    kind !== 'subagent' && name.includes(typed) && !(begins && from === 'agent' && needsTurn.has(name))
  const order = slashCommandsOf(agent).map(({ name }) => name)
  const placeOf = ({ from, name }: Ability) => (from === 'agent' ? order.indexOf(name) : -1)
  return all
    .filter(isOffered)
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .map((ability) => ({
      id: ability.name,
      label: `/${ability.name}`,
      argument: ability.argument,
      help: helpOf(ability),
      insert: `${mark}${ability.name}${ability.from === 'agent' && ability.argument === null ? '' : ' '}`,
    }))
}

/** The subagents whose name contains the typed text, followed by the files whose path contains it. */
export function mentionSuggestions(
  abilities: readonly Ability[],
  files: readonly string[],
  typed: string,
): readonly Suggestion[] {
  // Files are filtered like subagents, because `files` may still be the answer to an earlier text.
  const contains = (name: string) => name.toLowerCase().includes(typed.toLowerCase())
  const subagents = abilities.filter(({ kind, name }) => kind === 'subagent' && contains(name))
  return [
    ...subagents.map((ability) => ({
      id: `agent-${ability.name}`,
      label: `@${ability.name}`,
      argument: null,
      help: [texts.subagent, ability.description].filter((part) => part !== '').join(': '),
      insert: `@agent-${ability.name} `,
    })),
    ...files.filter(contains).map((path) => ({
      id: path,
      label: path,
      argument: null,
      help: '',
      insert: /\s/.test(path) ? `@"${path}" ` : `@${path} `,
    })),
  ]
}

function helpOf({ description, from, replaces }: Ability): string {
  const origin = [texts.from[from], replaces === null ? '' : texts.replaces[replaces]]
  const where = origin.filter((part) => part !== '').join(', ')
  return [description, where].filter((part) => part !== '').join(' · ')
}
