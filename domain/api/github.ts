/** The App at the code host: what it reaches for a person, and for administrators how it stands. Routes and limits. */
import type { Routes } from './route.ts'

export const gitHubRoutes = {
  getGitHubAccess: { method: 'GET', path: '/github/access' },
  getGitHubRights: { method: 'GET', path: '/admin/github' },
} as const satisfies Routes

/** What is shown of the App: more is counted, and not asked for. */
export const mostShown = { installations: 100, deliveries: 50, requests: 100 } as const

/** What became of a delivery with us. */
export const deliveryEffects = ['handled', 'repeated', 'ignored', 'failed', 'unknown'] as const
export type DeliveryEffect = (typeof deliveryEffects)[number]
