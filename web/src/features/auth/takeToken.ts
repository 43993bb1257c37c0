/** Takes what the sign-in brought out of the address, before anything is asked for: a token in a URL ends up in logs. */
import { keepToken, type TokenStorage } from '../../api/tokenStore.ts'
import { takeNonce, type NonceStorage } from './signInNonce.ts'

/** What the callback address said. */
export type CallbackOutcome =
  | { readonly kind: 'error'; readonly error: string }
  | { readonly kind: 'token'; readonly onboarding: boolean }
  /** A token that this tab did not ask for: whoever made the link may have chosen whose it is. The person decides. */
  | { readonly kind: 'unasked'; readonly token: string; readonly onboarding: boolean }
  | { readonly kind: 'nothing' }

export const callbackPath = '/auth/callback'

/** `null` when the page is not the callback. An error wins over a token; a token goes to storage only in a sign-in that this tab began. */
export function takeToken(
  location: Pick<Location, 'pathname' | 'search'>,
  history: Pick<History, 'replaceState' | 'state'>,
  storage: TokenStorage,
  nonces: NonceStorage,
): CallbackOutcome | null {
  if (location.pathname.replace(/\/$/, '') !== callbackPath) return null
  const query = new URLSearchParams(location.search)
  const error = query.get('error')
  const token = query.get('token')
  history.replaceState(history.state, '', callbackPath)
  if (error) return { kind: 'error', error }
  if (!token) return { kind: 'nothing' }
  const onboarding = query.get('onboarding') === 'true'
  if (!takeNonce(query.get('nonce'), nonces)) return { kind: 'unasked', token, onboarding }
  keepToken(token, storage)
  return { kind: 'token', onboarding }
}
