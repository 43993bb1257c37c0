/** The bearer token in the browser's storage, under the key that the product has always had. */

export const tokenKey = 'authToken'

/** The needed part of `Storage`; a browser may deny access to it. */
export type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export function readToken(storage: TokenStorage = localStorage): string | null {
  try {
    return storage.getItem(tokenKey)
  } catch {
    return null
  }
}

export function keepToken(token: string, storage: TokenStorage = localStorage): void {
  try {
    storage.setItem(tokenKey, token)
  } catch {
    // A browser without storage cannot stay signed in.
  }
}

export function dropToken(storage: TokenStorage = localStorage): void {
  try {
    storage.removeItem(tokenKey)
  } catch {
    // Nothing was kept.
  }
}
