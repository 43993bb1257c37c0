/** Guards for routes: who sends the request, whether they may make the call, and whether the read models are new enough to answer it. */
import { Fault } from '#domain/kernel/errors.ts'
import type { Actor, Position } from '#domain/kernel/event.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Projected } from '#platform/reads/projectionWait.ts'
import { viewsBehind } from './faultResponses.ts'
import type { Identity } from './session.ts'

export interface Person {
  readonly actor: Actor
  readonly user: UserDocument
  readonly sessionId: string
}

/** Requires a person with a valid session, even if that person has not completed onboarding. */
export async function identified(
  request: { readonly identity: Identity | null },
  { documents }: { readonly documents: Documents },
): Promise<Person> {
  if (request.identity === null) throw new Fault('sign_in_required')
  const { userId, sessionId } = request.identity
  const user = await documents.get(usersView, userId)
  if (user === undefined) {
    // A client that is told to sign in again discards its token. So only the log may decide that the user does not exist.
    const isThere = (await documents.now(usersView, userStream(userId), userId)) !== undefined
    throw isThere ? viewsBehind() : new Fault('sign_in_required')
  }
  if (user.endedSessions.some((ended) => ended.sessionId === sessionId)) throw new Fault('sign_in_required')
  return { actor: { kind: 'user', userId }, user, sessionId }
}

/** Requires a person who has completed onboarding. Nearly all calls have this guard. */
export async function signedIn(
  request: { readonly identity: Identity | null },
  services: { readonly documents: Documents },
): Promise<Person> {
  const person = await identified(request, services)
  if (!person.user.onboardingCompleted) throw new Fault('onboarding_incomplete')
  return person
}

/** Requires an administrator of this server. Throws `forbidden`. */
export async function administrator(
  { user }: Person,
  { accessControl }: { readonly accessControl: Pick<AccessControl, 'isAdmin'> },
): Promise<object> {
  if (!(await accessControl.isAdmin(user)))
    throw new Fault('forbidden', 'Only the administrators of this server may see this.')
  return {}
}

const freshTimeoutMs = 2_000

/** Delays a read until the read models contain `minPosition`. Throws `timeout` after 2 seconds. */
export async function fresh(
  request: { readonly query: { readonly minPosition?: Position | undefined } },
  { projected }: { readonly projected: Projected },
): Promise<object> {
  const { minPosition } = request.query
  if (minPosition !== undefined && !(await projected.waitFor(minPosition, freshTimeoutMs)))
    throw new Fault('timeout')
  return {}
}
