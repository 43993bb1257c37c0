/** Tokens and sessions in the code host's state. They are random, and only their hashes are stored. All functions except `newToken` are pure. */
import { createHash, randomBytes } from 'node:crypto'
import type { Grant, Session, State } from './stateSchema.ts'

const hour = 3_600_000
/** The lifetime of an access token, in milliseconds, as with GitHub Apps. */
export const accessLife = 8 * hour
/** The lifetime of a refresh token, in milliseconds: about 6 months, as with GitHub Apps. */
export const refreshLife = 15_897_600_000
const sessionLife = 30 * 24 * hour

/** The maximum number of grants per person. The oldest grants are dropped first. */
const grantsPerAccount = 50
const sessionsPerAccount = 20

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A random token with GitHub's prefix, such as `ghu_` for a person's access and `ghr_` to refresh it. */
export function newToken(prefix: `${string}_`): string {
  const length = prefix === 'ghr_' ? 76 : 36
  // Bytes from 248, which is 4 * 62, are left out, because they would make the first letters of the alphabet more likely.
  const letters = [...randomBytes(length * 2)].filter((byte) => byte < 248).slice(0, length)
  return prefix + letters.map((byte) => alphabet.charAt(byte % alphabet.length)).join('')
}

/** The hash of a token, which is stored in place of the token. Random tokens need no salt. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex')

/** A new pair of tokens in plain text, which is not stored. */
export interface IssuedTokens {
  readonly access: string
  readonly refresh: string
}

/** The state with a new grant for `login`. Expired grants are dropped. */
export function withGrant(
  state: State,
  issued: IssuedTokens,
  grant: { readonly login: string; readonly clientId: string },
  now: Date,
): State {
  const added: Grant = {
    ...grant,
    accessHash: tokenHash(issued.access),
    accessExpiresAt: new Date(now.getTime() + accessLife).toISOString(),
    refreshHash: tokenHash(issued.refresh),
    refreshExpiresAt: new Date(now.getTime() + refreshLife).toISOString(),
  }
  const alive = state.grants.filter((one) => isAfter(one.refreshExpiresAt, now))
  return { ...state, grants: lastOf(alive, grant.login, grantsPerAccount - 1).concat(added) }
}

/** The grant of an access token; `undefined` when the token is unknown or has expired. */
export function grantByAccess(state: State, token: string, now: Date): Grant | undefined {
  const hash = tokenHash(token)
  return state.grants.find((grant) => grant.accessHash === hash && isAfter(grant.accessExpiresAt, now))
}

/** The grant to which an access token belongs, even if the token has expired. */
export function grantOfAccess(state: State, token: string): Grant | undefined {
  const hash = tokenHash(token)
  return state.grants.find((grant) => grant.accessHash === hash)
}

/** The grant of a refresh token; `undefined` when the token is unknown or has expired. */
export function grantByRefresh(state: State, token: string, now: Date): Grant | undefined {
  const hash = tokenHash(token)
  return state.grants.find((grant) => grant.refreshHash === hash && isAfter(grant.refreshExpiresAt, now))
}

/** The state without the grants for which `ended` is true. */
export const withoutGrants = (state: State, ended: (grant: Grant) => boolean): State => ({
  ...state,
  grants: state.grants.filter((grant) => !ended(grant)),
})

/** The state with a new browser session for `login`. Expired sessions are dropped. */
export function withSession(state: State, token: string, login: string, now: Date): State {
  const added: Session = {
    login,
    hash: tokenHash(token),
    expiresAt: new Date(now.getTime() + sessionLife).toISOString(),
  }
  const alive = state.sessions.filter((session) => isAfter(session.expiresAt, now))
  return { ...state, sessions: lastOf(alive, login, sessionsPerAccount - 1).concat(added) }
}

/** The login that was chosen in the browser session with this token; `undefined` when the token is unknown or the session has expired. */
export function sessionLogin(state: State, token: string, now: Date): string | undefined {
  const hash = tokenHash(token)
  return state.sessions.find((session) => session.hash === hash && isAfter(session.expiresAt, now))?.login
}

const isAfter = (time: string, now: Date): boolean => new Date(time) > now

function lastOf<Item extends { readonly login: string }>(
  items: readonly Item[],
  login: string,
  most: number,
): Item[] {
  const own = items.filter((item) => item.login === login).slice(-most)
  return items.filter((item) => item.login !== login || own.includes(item))
}
