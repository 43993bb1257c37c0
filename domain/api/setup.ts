/** Creating the GitHub App of this server, once: routes and limits. */
import type { Routes } from './route.ts'

export const setupRoutes = {
  getSetup: { method: 'GET', path: '/setup' },
  beginSetup: { method: 'POST', path: '/setup' },
  /** The address to which the code host redirects the browser, with a code for the created App. */
  setupCallback: { method: 'GET', path: '/setup/callback' },
} as const satisfies Routes

export const setupPath = '/setup'

/** The longest name of an App that GitHub accepts, in characters. */
export const longestAppName = 34

/** The reasons why no App was created, as the value of `error` in the page's address. */
export const setupErrors = ['session_lost', 'code_expired', 'refused', 'unavailable'] as const
export type SetupError = (typeof setupErrors)[number]
