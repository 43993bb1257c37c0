/** Takes what the sign-in brought out of the address, before anything is asked for: a token in a URL ends up in logs. */
import { keepToken, type TokenStorage } from '../../api/tokenStore.ts'

/** What the callback address said. */
export type CallbackOutcome =
  | { readonly kind: 'error'; readonly error: string }
  | { readonly kind: 'token'; readonly onboarding: boolean }
  | { readonly kind: 'nothing' }

export const callbackPath = '/auth/callback'

/** `null` when the page is not the callback. An error wins over a token; the token goes to storage, never into the outcome. */
export function takeToken(
  location: Pick<Location, 'pathname' | 'search'>,
  history: Pick<History, 'replaceState' | 'state'>,
  storage: TokenStorage,
): CallbackOutcome | null {
  if (location.pathname.replace(/\/$/, '') !== callbackPath) return null
  const query = new URLSearchParams(location.search)
  const error = query.get('error')
  const token = query.get('token')
  history.replaceState(history.state, '', callbackPath)
  if (error) return { kind: 'error', error }
  if (!token) return { kind: 'nothing' }
  keepToken(token, storage)
  return { kind: 'token', onboarding: query.get('onboarding') === 'true' }
}
