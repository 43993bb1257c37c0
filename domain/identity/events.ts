/** What happens to an account at the code host here: somebody has it, or nobody any more. */
import { z } from 'zod'
import { event, none, type EventOf } from '../kernel/event.schema.ts'
import { UserId } from '../kernel/ids.schema.ts'

/** The account is this person's: signing in with it leads to them. */
export const IdentityClaimed = event('IdentityClaimed', 1, {
  data: z.object({ userId: UserId }),
  content: none,
})
/** The person who claimed it does not have it after all. */
export const IdentityReleased = event('IdentityReleased', 1, {
  data: z.object({ userId: UserId }),
  content: none,
})

export const identityEvents = [IdentityClaimed, IdentityReleased] as const
export type IdentityEvent = EventOf<(typeof identityEvents)[number]>
