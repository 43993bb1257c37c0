/** How an operator configures each agent. */
import { agentNames, type AgentName } from '../agents.ts'
import type { AgentConfiguration } from './agent.ts'
import { claudeConfiguration } from './claude.ts'
import { codexConfiguration } from './codex.ts'
import { cursorConfiguration } from './cursor.ts'
import { geminiConfiguration } from './gemini.ts'
import { opencodeConfiguration } from './opencode.ts'

export const agentConfigurations: Readonly<Record<AgentName, AgentConfiguration>> = {
  claude: claudeConfiguration,
  cursor: cursorConfiguration,
  codex: codexConfiguration,
  opencode: opencodeConfiguration,
  gemini: geminiConfiguration,
}

export function byAgent<Value>(
  valueOf: (name: AgentName, configuration: AgentConfiguration) => Value,
): Readonly<Record<AgentName, Value>> {
  const values = agentNames.map((name) => [name, valueOf(name, agentConfigurations[name])] as const)
  // The cast holds because `values` has an entry for each name of an agent.
  return Object.fromEntries(values) as Record<AgentName, Value>
}
