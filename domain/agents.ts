/**
 * The agents that can work on tasks. The schemas, the server and the client all derive their lists of agents from this file. It contains no schema,
 * so that the client can import it directly.
 */
import type { Agent } from './agents/agent.ts'
import { claude } from './agents/claude.ts'
import { codex } from './agents/codex.ts'
import { cursor } from './agents/cursor.ts'
import { gemini } from './agents/gemini.ts'
import { opencode } from './agents/opencode.ts'

/** The agents by name, in the order in which people see them. */
const byName = { claude, cursor, codex, opencode, gemini } as const satisfies Readonly<Record<string, Agent>>

export type AgentName = keyof typeof byName
export const agents: readonly (Agent & { readonly name: AgentName })[] = Object.values(byName)
export const agentNames: readonly AgentName[] = agents.map(({ name }) => name)
/** The agent of a task whose creator chose none. */
export const defaultAgent: AgentName = 'claude'

export const isAgentName = (value: string): value is AgentName => Object.hasOwn(byName, value)
export const agentNamed = (name: AgentName): Agent => byName[name]

/** The name under which people see the agent; `name` itself for an unknown agent. */
export const labelOf = (name: string): string => (isAgentName(name) ? agentNamed(name).label : name)
