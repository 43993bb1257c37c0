/** Which skills, commands and subagents an agent can be told to use, and how. */
import type { Ability, RepositoryAbility } from '../api/abilities.schema.ts'
import type { AgentName } from '../agents.ts'
import { canDo } from './capabilities.ts'
import type { OwnCommand } from '../user/instructions.ts'
import { slashCommandsOf } from '../task/slashCommands.ts'

/** The character that stands before the name of a skill or command in a message. Agents without an entry know neither skills nor commands. */
const marks: Readonly<Partial<Record<AgentName, string>>> = { claude: '/', codex: '$' }

export const abilityMark = (agent: AgentName): string | undefined => marks[agent]

/**
 * The abilities that an agent can be told to use, sorted by name; empty for an agent that knows neither skills nor commands. If several skills or
 * commands have the same name, the repository's wins over the person's, and both win over the agent's.
 */
export function abilitiesFor(
  agent: AgentName,
  repository: readonly RepositoryAbility[],
  own: readonly Pick<OwnCommand, 'name' | 'description'>[],
): readonly Ability[] {
  if (abilityMark(agent) === undefined) return []
  const command = { kind: 'command', argument: null } as const
  const ofAgent = slashCommandsOf(agent).map(({ name, argument, help }) => ({
    ...command,
    name,
    description: help,
    argument,
    from: 'agent' as const,
    replaces: null,
  }))
  const agents = new Set(ofAgent.map(({ name }) => name))
  const persons = new Set(own.map(({ name }) => name))
  const isCalled = ({ kind }: RepositoryAbility) => kind !== 'subagent'
  const replacedBy = (name: string) => (agents.has(name) ? ('agent' as const) : null)
  const found: readonly Ability[] = [
    ...repository
      .filter((ability) => isCalled(ability) || canDo(agent, 'subagents'))
      .map((ability) => ({
        ...ability,
        from: 'repository' as const,
        replaces: !isCalled(ability)
          ? null
          : persons.has(ability.name)
            ? ('person' as const)
            : replacedBy(ability.name),
      })),
    ...own.map(({ name, description }) => ({
      ...command,
      name,
      description,
      from: 'person' as const,
      replaces: replacedBy(name),
    })),
    ...ofAgent,
  ]
  // `found` is in order of precedence, so the first ability of a name wins.
  const used = new Map<string, Ability>()
  for (const ability of found) {
    const key = `${isCalled(ability) ? '' : '@'}${ability.name}`
    if (!used.has(key)) used.set(key, ability)
  }
  return [...used.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
