/** An account at the code host, and whose it is here: the first who claims it has it. */
import type { Decider, Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { IdentityClaimed, IdentityReleased, type IdentityEvent } from './events.ts'

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
