/**
 * The agents that can work on tasks: the one list that the schemas, the server and the client derive theirs from. It holds no schema, so
 * that the client can import it as it is.
 */
import { isModelName } from './kernel/names.ts'

/** A command that begins with a slash, as the agent itself understands it; the client offers these while a message is written. */
export interface SlashCommand {
  readonly name: string
  /** What may follow the name, in a word or two; `null` when nothing may. */
  readonly argument: string | null
  readonly help: string
  /** Makes sense only once the task has had a turn. */
  readonly needsTurn: boolean
}

interface Agent {
  readonly name: string
  /** The name that people see. */
  readonly label: string
  /** Its logo: the `d` of an SVG path, drawn as a line in a box of 24 by 24. */
  readonly logo: string
  /** Whether a running turn can be given another message. */
  readonly canSteer: boolean
  /** Matches model names that belong to other makers. A client may send a model that was chosen for another agent. */
  readonly foreignModels: RegExp
  /** In the order in which they are offered. */
  readonly slashCommands: readonly SlashCommand[]
}

export const agents = [
  {
    name: 'claude',
    label: 'Claude',
    logo: 'M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6 5.6 18.4',
    canSteer: true,
    foreignModels: /^(?:o\d|gpt|chatgpt|codex|gemini|grok|composer|kimi|deepseek|auto)(?:[-.]|$)/i,
    slashCommands: [
      {
        name: 'compact',
        argument: 'what to keep',
        help: 'Sum up the conversation to make room',
        needsTurn: true,
      },
      { name: 'context', argument: null, help: 'Show what fills the conversation', needsTurn: true },
      { name: 'cost', argument: null, help: 'Show what this conversation has used', needsTurn: true },
      {
        name: 'code-review',
        argument: 'how thorough',
        help: 'Look for faults in the changes',
        needsTurn: true,
      },
      { name: 'simplify', argument: null, help: 'Make the changes simpler and clearer', needsTurn: true },
      { name: 'init', argument: null, help: 'Write a CLAUDE.md for this repository', needsTurn: false },
    ],
  },
  {
    name: 'cursor',
    label: 'Cursor',
    logo: 'M12 2.5 20.5 7v10L12 21.5 3.5 17V7ZM3.5 7 12 12l8.5-5M12 12v9.5',
    canSteer: false,
    // Aliases that only `claude` knows.
    foreignModels: /^(?:default|best|opus|opusplan|sonnet|haiku|o\d(?:-.*)?)(?:\[1m\])?$/i,
    slashCommands: [],
  },
] as const satisfies readonly Agent[]

export type AgentName = (typeof agents)[number]['name']
export const agentNames: readonly AgentName[] = agents.map(({ name }) => name)
/** The agent of a task whose creator names none. */
export const defaultAgent: AgentName = 'claude'

export function isAgentName(value: string): value is AgentName {
  return agents.some(({ name }) => name === value)
}

export function agentNamed(name: AgentName): Agent {
  const agent = agents.find((one) => one.name === name)
  if (agent === undefined) throw new Error(`There is no agent called ${name}.`)
  return agent
}

/** Whether the agent can be asked to use this model; asked for any other, it uses its default. */
export function takesModel(agent: AgentName, model: string): boolean {
  return isModelName(model) && !agentNamed(agent).foreignModels.test(model)
}
