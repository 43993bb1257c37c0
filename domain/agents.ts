/**
 * The agents that can work on tasks: the one list that the schemas, the server and the client derive theirs from. It holds no schema, so
 * that the client can import it as it is.
 */
import type { Agent } from './agents/agent.ts'
import { claude } from './agents/claude.ts'
import { codex } from './agents/codex.ts'
import { cursor } from './agents/cursor.ts'

/** In the order in which they are offered. */
export const agents = [claude, cursor, codex] as const satisfies readonly Agent[]

export type AgentName = (typeof agents)[number]['name']
export const agentNames: readonly AgentName[] = agents.map(({ name }) => name)
/** The agent of a task whose creator names none. */
export const defaultAgent: AgentName = claude.name

export function isAgentName(value: string): value is AgentName {
  return agents.some(({ name }) => name === value)
}

export function agentNamed(name: AgentName): Agent {
  const agent = agents.find((one) => one.name === name)
  if (agent === undefined) throw new Error(`Unknown agent: ${name}`)
  return agent
}
