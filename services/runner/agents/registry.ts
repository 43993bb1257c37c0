/** The agents that can be run. */
import type { AgentName } from '#domain/agents.ts'
import { acpAgents } from './acp/acpAgents.ts'
import { claude } from './claude/claude.ts'
import { codex } from './codex/codex.ts'
import { cursor } from './cursor/cursor.ts'
import type { Agent } from './port.ts'

export const agents: Readonly<Record<AgentName, Agent>> = { claude, cursor, codex, ...acpAgents }
