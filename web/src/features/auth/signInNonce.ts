/** The nonce of a sign-in that this tab began. A token from any other sign-in is used only if the person agrees. */
import { authRoutes } from '#domain/api/auth.ts'
import { tryOr } from '../../state/tryOr.ts'

export type NonceStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const nonceKey = 'signIn'

/** Sends the browser to the code host; with `another` the person may choose a different account there. */
export function beginSignIn({ another = false }: { readonly another?: boolean } = {}): void {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  const nonce = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const query = new URLSearchParams(keepNonce(nonce) ? { nonce } : {})
  if (another) query.set('account', 'another')
  window.location.assign(`/api${authRoutes.signInWithGitHub.path}${query.size === 0 ? '' : `?${query}`}`)
}

/** Whether the tab began the sign-in that brought this nonce. A nonce is valid once. */
export function takeNonce(nonce: string | null, storage?: NonceStorage): boolean {
  return tryOr(() => {
    const tab = storage ?? sessionStorage
    const kept = tab.getItem(nonceKey)
    if (kept === null || kept !== nonce) return false
    tab.removeItem(nonceKey)
    return true
  }, false)
}

/** Whether the nonce could be stored; without a stored nonce, the person has to confirm the account at the end of the sign-in. */
function keepNonce(nonce: string): boolean {
  return tryOr(() => {
    sessionStorage.setItem(nonceKey, nonce)
    return true
  }, false)
}
