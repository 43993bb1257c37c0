/** Keeps the bearer token in the browser's storage. */
import { tryOr } from '../state/tryOr.ts'

export const tokenKey = 'authToken'

/** The needed part of `Storage`; a browser may deny access to it. */
export type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export function readToken(storage: TokenStorage = localStorage): string | null {
  return tryOr(() => storage.getItem(tokenKey), null)
}

/** Stores the token. In a browser that denies access to its storage, nobody can stay signed in. */
export function keepToken(token: string, storage: TokenStorage = localStorage): void {
  tryOr(() => storage.setItem(tokenKey, token), undefined)
}

export function dropToken(storage: TokenStorage = localStorage): void {
  tryOr(() => storage.removeItem(tokenKey), undefined)
}
