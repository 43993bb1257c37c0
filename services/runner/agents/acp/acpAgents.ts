/** The agents that speak ACP, each with its entry. */
import type { AgentName } from '#domain/agents.ts'
import type { Agent } from '../port.ts'
import { acpAgent } from './acp.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'

export const acpAgents = {
  opencode: acpAgent('opencode', opencode),
  gemini: acpAgent('gemini', gemini),
} satisfies Partial<Record<AgentName, Agent>>
