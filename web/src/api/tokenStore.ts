/** Keeps the bearer token in the browser's storage. */
import { tryOr } from '../state/tryOr.ts'

export const tokenKey = 'authToken'

/** The needed part of `Storage`. A browser may deny access to it: then even reading `localStorage` throws. */
export type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export function readToken(storage?: TokenStorage): string | null {
  return tryOr(() => (storage ?? localStorage).getItem(tokenKey), null)
}

/** Stores the token. In a browser that denies access to its storage, nobody can stay signed in. */
export function keepToken(token: string, storage?: TokenStorage): void {
  tryOr(() => (storage ?? localStorage).setItem(tokenKey, token), undefined)
}

export function dropToken(storage?: TokenStorage): void {
  tryOr(() => (storage ?? localStorage).removeItem(tokenKey), undefined)
}
