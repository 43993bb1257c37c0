/** A decider: the pure part of an aggregate. It turns commands into events or a refusal, and folds events into state. */
import type { AnyEvent, RecordedOf } from './event.ts'
import type { Refusal } from './errors.ts'

export type Decision<E extends AnyEvent> = readonly E[] | Refusal

export interface Decider<State, Command, E extends AnyEvent> {
  readonly initial: State
  /** Returns events, or why the command is refused. Uses no clock, I/O or randomness: the command contains everything that the decision needs. */
  decide(command: Command, state: State): Decision<E>
  /** Returns the state after the event. Accepts events whose content was erased. */
  evolve(state: State, event: RecordedOf<E>): State
}

export function isRefusal<E extends AnyEvent>(decision: Decision<E>): decision is Refusal {
  return 'refused' in decision
}
