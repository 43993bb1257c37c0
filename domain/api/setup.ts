/** Creating the GitHub App of this server, once: routes and limits. */
import type { Routes } from './route.ts'

export const setupRoutes = {
  getSetup: { method: 'GET', path: '/setup' },
  beginSetup: { method: 'POST', path: '/setup' },
  /** The code host redirects the browser here, with a code for the created App. */
  setupCallback: { method: 'GET', path: '/setup/callback' },
} as const satisfies Routes

export const setupPath = '/setup'

/** The longest App name that GitHub accepts. */
export const longestAppName = 34

/** Why no App was created: `error` in the address of the page. */
export const setupErrors = ['session_lost', 'code_expired', 'refused', 'unavailable'] as const
export type SetupError = (typeof setupErrors)[number]
