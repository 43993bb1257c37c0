/** A session that has just been recorded: its token, and the person as the API shows them. */
import type { User } from '#domain/api/auth.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { userOf, usersView } from '#domain/views/users.ts'
import type { Executed } from '#platform/commands/execute.ts'
import type { GatewayServices } from '../services.ts'

export interface SignedIn {
  readonly token: string
  readonly user: User
  readonly position?: Position
  /** The projection has not got there in time. */
  readonly stale?: true
}

/** Waits until the session can be read, for so long, and gives its token. Throws when there is no such person. */
export async function signedInWith(
  executed: Executed<unknown>,
  { userId, sessionId, expiresAt }: { userId: string; sessionId: string; expiresAt: string },
  { projected, documents, sessions }: Pick<GatewayServices, 'projected' | 'documents' | 'sessions'>,
  withinMs: number,
): Promise<SignedIn> {
  const { position, head } = executed
  const isFresh = position === null || (await projected.waitFor(position, withinMs))
  const document = await documents.asOf(usersView, userStream(userId), userId, head)
  if (!document) throw new Error('A session began of somebody who is not there.')
  return {
    token: await sessions.token({ userId, sessionId }, expiresAt),
    user: userOf(document),
    ...(position === null ? {} : { position }),
    ...(isFresh ? {} : { stale: true as const }),
  }
}
