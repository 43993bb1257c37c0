/** The App at the code host: what a person can reach through it and, for administrators, its status. Routes and limits. */
import type { Routes } from './route.ts'

export const gitHubRoutes = {
  getGitHubAccess: { method: 'GET', path: '/github/access' },
  getGitHubRights: { method: 'GET', path: '/admin/github' },
} as const satisfies Routes

/** How many installations, deliveries and requests are shown; further installations are only counted. */
export const mostShown = { installations: 100, deliveries: 50, requests: 100 } as const

export const deliveryEffects = ['handled', 'repeated', 'ignored', 'failed', 'unknown'] as const
export type DeliveryEffect = (typeof deliveryEffects)[number]
