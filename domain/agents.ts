/**
 * The agents that can work on tasks: the one list from which the schemas, the server and the client derive theirs. It contains no schema, so that the
 * client can import it directly.
 */
import type { Agent } from './agents/agent.ts'
import { claude } from './agents/claude.ts'
import { codex } from './agents/codex.ts'
import { cursor } from './agents/cursor.ts'
import { isModelName } from './kernel/names.ts'

/** The agents by name, in the order in which people see them. */
const byName = { claude, cursor, codex } as const satisfies Readonly<Record<string, Agent>>

export type AgentName = keyof typeof byName
export const agents = Object.values(byName)
export const agentNames: readonly AgentName[] = agents.map(({ name }) => name)
/** The agent of a task when its creator chose none. */
export const defaultAgent: AgentName = 'claude'

export const isAgentName = (value: string): value is AgentName => Object.hasOwn(byName, value)
export const agentNamed = (name: AgentName): Agent => byName[name]

/** The name of an agent that people see; for an unknown agent, the given name. */
export const labelOf = (name: string): string => (isAgentName(name) ? agentNamed(name).label : name)

/** For each agent, the names of models by other makers: a client may send a model that was chosen for another agent. */
const foreign: Readonly<Partial<Record<AgentName, RegExp>>> = {
  claude: /^(?:o\d|gpt|chatgpt|codex|gemini|grok|composer|kimi|deepseek|auto)(?:[-.]|$)/i,
  // These are aliases that only `claude` knows.
  cursor: /^(?:default|best|opus|opusplan|sonnet|haiku|o\d(?:-.*)?)(?:\[1m\])?$/i,
  codex: /^(?:claude|default|best|opus|sonnet|haiku|gemini|grok|composer|kimi|deepseek|auto)/i,
}

/** Whether the agent can use this model. An agent that cannot use the requested model uses its default. */
export function takesModel(agent: AgentName, model: string): boolean {
  return isModelName(model) && foreign[agent]?.test(model) !== true
}
