/** Takes the outcome of a sign-in out of the address before any request is made, because a token in a URL ends up in logs. */
import { keepToken, type TokenStorage } from '../../api/tokenStore.ts'
import { takeNonce, type NonceStorage } from './signInNonce.ts'

/** The outcome in the callback address. */
export type CallbackOutcome =
  | { readonly kind: 'error'; readonly error: string }
  | { readonly kind: 'token'; readonly onboarding: boolean }
  /** A token for a sign-in that this tab did not begin. Somebody may have sent a link to their own account, so the person decides. */
  | { readonly kind: 'unasked'; readonly token: string; readonly onboarding: boolean }
  | { readonly kind: 'nothing' }

const callbackPath = '/auth/callback'

/** `null` when the page is not the callback. An error wins over a token; a token is only stored for a sign-in that this tab began. */
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
