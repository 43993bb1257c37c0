/** The server's GitHub App: routes and limits, and the effects that a webhook delivery can have. */
import type { Routes } from './route.ts'

export const gitHubRoutes = {
  getGitHubAccess: { method: 'GET', path: '/github/access' },
  getGitHubRights: { method: 'GET', path: '/admin/github' },
} as const satisfies Routes

/** The most installations, deliveries and requests in one answer. Further installations are only counted. */
export const mostShown = { installations: 100, deliveries: 50, requests: 100 } as const

export const deliveryEffects = ['handled', 'repeated', 'ignored', 'failed', 'unknown'] as const
export type DeliveryEffect = (typeof deliveryEffects)[number]
