/** Begins a sign-in in this tab: only what it began may bring it a token. */
import { authRoutes } from '#domain/api/auth.ts'

export type NonceStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const nonceKey = 'signIn'

/** Sends the browser to the code host; with `another` it may choose an account there once more. */
export function beginSignIn(
  { another = false }: { readonly another?: boolean } = {},
  { storage, go }: { readonly storage: NonceStorage; readonly go: (address: string) => void } = {
    storage: sessionStorage,
    go: (address) => window.location.assign(address),
  },
): void {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  const nonce = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const query = new URLSearchParams(keepNonce(nonce, storage) ? { nonce } : {})
  if (another) query.set('account', 'another')
  go(`/api${authRoutes.signInWithGitHub.path}${query.size === 0 ? '' : `?${query}`}`)
}

/** Whether the tab began the sign-in that brought this nonce. It is good once. */
export function takeNonce(brought: string | null, storage: NonceStorage): boolean {
  try {
    const kept = storage.getItem(nonceKey)
    if (kept === null || kept !== brought) return false
    storage.removeItem(nonceKey)
    return true
  } catch {
    return false
  }
}

function keepNonce(nonce: string, storage: NonceStorage): boolean {
  try {
    storage.setItem(nonceKey, nonce)
    return true
  } catch {
    // A browser that keeps nothing asks at the end.
    return false
  }
}
