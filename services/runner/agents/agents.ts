/** The agents that can be run. One that is not here is known by name and has no adapter. */
import type { AgentName } from '#domain/task/events.ts'
import { claude } from './claude.ts'
import type { Agent } from './port.ts'

export const agents: Readonly<Partial<Record<AgentName, Agent>>> = { claude }
