/** An account at the code host, and whose it is here: the first who claims it has it. */
import { z } from 'zod'
import { event, none, type EventOf } from './kernel/event.schema.ts'
import { UserId } from './kernel/ids.schema.ts'
import type { Decider, Decision } from './kernel/decider.ts'
import { refuse } from './kernel/errors.ts'
import type { RecordedOf } from './kernel/event.ts'

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

export interface IdentityState {
  /** Whose it is; `null` while nobody has claimed it. */
  readonly userId: string | null
}

export type IdentityCommand =
  | { readonly type: 'ClaimIdentity'; readonly userId: string }
  | { readonly type: 'ReleaseIdentity'; readonly userId: string }

function decide(command: IdentityCommand, state: IdentityState): Decision<IdentityEvent> {
  const { userId } = command
  switch (command.type) {
    case 'ClaimIdentity': {
      if (state.userId === null) return [IdentityClaimed.of({ userId })]
      return state.userId === userId
        ? []
        : refuse('already_exists', 'This GitHub account is linked to another Flightdeck account.')
    }
    case 'ReleaseIdentity':
      return state.userId === userId ? [IdentityReleased.of({ userId })] : []
  }
}

function evolve(_state: IdentityState, event: RecordedOf<IdentityEvent>): IdentityState {
  switch (event.type) {
    case 'IdentityClaimed':
      return { userId: event.data.userId }
    case 'IdentityReleased':
      return { userId: null }
  }
}

export const identity: Decider<IdentityState, IdentityCommand, IdentityEvent> = {
  initial: { userId: null },
  decide,
  evolve,
}
