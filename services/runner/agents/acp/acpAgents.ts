/** The agents that speak ACP, each with its entry. */
import type { AgentName } from '#domain/agents.ts'
import type { Agent } from '../port.ts'
import { acpAgent } from './acp.ts'
import { opencode } from './opencode.ts'

export const acpAgents = {
  opencode: acpAgent('opencode', opencode),
} satisfies Partial<Record<AgentName, Agent>>
