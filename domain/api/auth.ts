/** Signing in, the profile and onboarding: routes and error codes. */
import type { Routes } from './route.ts'

/** Routes that our client does not call: programs sign in with a password, and the code host redirects browsers. */
export const otherSignInRoutes = {
  register: { method: 'POST', path: '/auth/register' },
  login: { method: 'POST', path: '/auth/login' },
  gitHubCallback: { method: 'GET', path: '/auth/github/callback' },
} as const satisfies Routes

export const authRoutes = {
  linkGitHub: { method: 'POST', path: '/auth/github/link' },
  getRefusal: { method: 'GET', path: '/auth/github/refusal' },
  getMe: { method: 'GET', path: '/auth/me' },
  updateProfile: { method: 'PUT', path: '/auth/profile' },
  completeOnboarding: { method: 'POST', path: '/auth/complete-onboarding' },
  disconnectGitHub: { method: 'POST', path: '/auth/disconnect-github' },
  deleteAccount: { method: 'DELETE', path: '/auth/me' },
  logout: { method: 'POST', path: '/auth/logout' },
  listSessions: { method: 'GET', path: '/auth/sessions' },
  endSession: { method: 'DELETE', path: '/auth/sessions/:sessionId' },
  endSessions: { method: 'DELETE', path: '/auth/sessions' },
  /** A browser opens this address to sign in with the code host or to connect an account. The code host sends it back to `gitHubCallback`. */
  signInWithGitHub: { method: 'GET', path: '/auth/github' },
} as const satisfies Routes

/** The values that `error` in the address `/auth/callback` can have. After `not_allowed`, the route `getRefusal` returns the reason. */
export const signInErrors = [
  'github',
  'server',
  'no_install_id',
  'session_lost',
  'user_not_found',
  'install_callback',
  'not_allowed',
] as const
export type SignInError = (typeof signInErrors)[number]

/** Further values of `error` in the address of the settings page: why an account was not connected. */
export const linkErrors = ['account_taken', 'account_differs'] as const
export type LinkError = (typeof linkErrors)[number]
