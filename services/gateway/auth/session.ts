/** Sessions of people: reading bearer tokens, and the answer to a sign-in. */
import type { Middleware } from 'koa'
import { LRUCache } from 'lru-cache'
import type { User } from '#domain/api/auth.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { userOf, usersView } from '#domain/views/users.ts'
import { atMost } from '#platform/atMost.ts'
import type { Executed } from '#platform/commands/execute.ts'
import type { GatewayServices } from '../services.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import { orElse } from '#platform/async/orElse.ts'
import type { Identity, Sessions } from '#platform/http/session.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import type { Documents } from '#platform/reads/documents.ts'

export interface SignedIn {
  readonly token: string
  readonly user: User
  readonly position?: Position
  /** Set when the read models did not reach `position` in time. */
  readonly stale?: true
}

/** Returns the token of a new session. Waits until the session can be read, for `withinMs` at most. Throws when the person does not exist. */
export async function signedInWith(
  executed: Executed<unknown>,
  { userId, sessionId, expiresAt }: { userId: string; sessionId: string; expiresAt: string },
  { projected, documents, sessions }: Pick<GatewayServices, 'projected' | 'documents' | 'sessions'>,
  withinMs: number,
): Promise<SignedIn> {
  const { position, head } = executed
  const isFresh = position === null || (await projected.waitFor(position, withinMs))
  const document = await documents.asOf(usersView, userStream(userId), userId, head)
  if (!document) throw new Error('A session began for an unknown person.')
  return {
    token: await sessions.token({ userId, sessionId }, expiresAt),
    user: userOf(document),
    ...(position === null ? {} : { position }),
    ...(isFresh ? {} : { stale: true as const }),
  }
}

/** For how many sessions, and for how many milliseconds, it is remembered that they had not ended, so that not every request reads the person. */
const remembered = { ...atMost(10_000), ttl: 5_000 }

/**
 * Reads the bearer token and sets `state.identity` to the token's session, or to `null`, also when the session has ended: nobody then uses up the
 * limits of a person who has signed out. Guards still check the session, which may have ended in the last seconds. Throws `not_allowed` for a person
 * who was removed from the list of people who may sign in, and `sign_in_required` or `code_host_unavailable` when that cannot be checked.
 */
export function authenticate({
  sessions,
  accessControl,
  documents,
}: {
  sessions: Pick<Sessions, 'verify'>
  accessControl: Pick<AccessControl, 'check'>
  documents: Pick<Documents, 'get'>
}): Middleware {
  const open = new LRUCache<string, true>(remembered)
  async function hasEnded({ userId, sessionId }: Identity): Promise<boolean> {
    if (open.has(sessionId)) return false
    const user = await documents.get(usersView, userId).catch(orElse(NotFolded, undefined))
    if (user?.endedSessions.some((ended) => ended.sessionId === sessionId)) return true
    open.set(sessionId, true)
    return false
  }
  return async (context, next) => {
    const [scheme, token] = context.get('authorization').split(' ')
    const bearer = scheme?.toLowerCase() === 'bearer' ? token : undefined
    const verified = bearer === undefined ? undefined : await sessions.verify(bearer)
    const identity = verified === undefined || (await hasEnded(verified)) ? null : verified
    context.state.identity = identity
    if (identity !== null) await accessControl.check(identity.userId)
    await next()
  }
}
