/** The server and its agents: routes, and the path for webhooks. */
import type { Routes } from './route.ts'

export const serverRoutes = {
  getNotices: { method: 'GET', path: '/notices' },
  countPageView: { method: 'POST', path: '/page-views' },
  getAgents: { method: 'GET', path: '/agents' },
} as const satisfies Routes

/** The path to which the code host delivers webhooks. It is not part of the API and needs no session. */
export const webhookPath = '/webhooks/github'
