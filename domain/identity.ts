/** An account at the code host, and the Flightdeck user to whom it belongs: the first user who claims it, until it is released. */
import { fact, type EventOf } from './kernel/event.schema.ts'
import { UserId } from './kernel/ids.schema.ts'
import type { Decider, Decision } from './kernel/decider.ts'
import { refuse } from './kernel/errors.ts'
import type { RecordedOf } from './kernel/event.ts'

/** The account now belongs to this user: whoever signs in with the account is signed in as the user. */
export const IdentityClaimed = fact('IdentityClaimed', { userId: UserId })
/** The account no longer belongs to this user. */
export const IdentityReleased = fact('IdentityReleased', { userId: UserId })

export const identityEvents = [IdentityClaimed, IdentityReleased] as const
export type IdentityEvent = EventOf<(typeof identityEvents)[number]>

export interface IdentityState {
  /** The user to whom the account belongs; `null` when it belongs to nobody. */
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
