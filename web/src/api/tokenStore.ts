/** The bearer token in the browser's storage, under the key that the product has always had. */
import { tryOr } from '../state/tryOr.ts'

export const tokenKey = 'authToken'

/** The needed part of `Storage`; a browser may deny access to it. */
export type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export function readToken(storage: TokenStorage = localStorage): string | null {
  return tryOr(() => storage.getItem(tokenKey), null)
}

/** A browser without storage cannot stay signed in. */
export function keepToken(token: string, storage: TokenStorage = localStorage): void {
  tryOr(() => storage.setItem(tokenKey, token), undefined)
}

export function dropToken(storage: TokenStorage = localStorage): void {
  tryOr(() => storage.removeItem(tokenKey), undefined)
}
