/** A person's own keys for the models of agents: routes. */
import type { Routes } from './route.ts'

export const agentKeyRoutes = {
  listAgentKeys: { method: 'GET', path: '/profile/agent-keys' },
  setAgentKey: { method: 'PUT', path: '/profile/agent-keys' },
} as const satisfies Routes
