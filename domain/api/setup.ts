/** Making the GitHub App of this server, once: routes and limits. */
import type { Routes } from './route.ts'

export const setupRoutes = {
  getSetup: { method: 'GET', path: '/setup' },
  beginSetup: { method: 'POST', path: '/setup' },
  /** The code host sends the browser back here, with a code for the App that was made. */
  setupCallback: { method: 'GET', path: '/setup/callback' },
} as const satisfies Routes

/** Where the page is. */
export const setupPath = '/setup'

/** The longest name that GitHub takes for an App. */
export const longestAppName = 34

/** Why no App came of it: `error` in the address of the page. */
export const setupErrors = ['session_lost', 'code_expired', 'refused', 'unavailable'] as const
export type SetupError = (typeof setupErrors)[number]
