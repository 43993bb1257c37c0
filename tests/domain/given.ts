/** States the behaviour of a decider: given these events, when this command comes, then these events happen. */
import { expect } from 'vitest'
import { eventKinds } from '#domain/events.ts'
import { isRefusal, type Decider, type Decision } from '#domain/kernel/decider.ts'
import type { FaultCode } from '#domain/kernel/errors.ts'
import type { AnyEvent, RecordedOf } from '#domain/kernel/event.ts'
import { recorded } from './recorded.ts'
import { fold } from './fold.ts'

/** Events, or histories of events, in the order in which they happened. */
export type Past<E extends AnyEvent> = readonly (E | readonly E[])[]

interface Outcome<E extends AnyEvent> {
  /** Exactly these events happen, in this order, and each is valid by its own schema. */
  then(events: readonly E[]): void
  /** Nothing happens, and nothing is refused. */
  thenNothing(): void
  /** The command is refused with this code and, if given, with this sentence. */
  thenRefused(code: FaultCode, sentence?: string): void
}

interface Given<State, Command, E extends AnyEvent> {
  readonly state: State
  when(command: Command): Outcome<E>
}

/** Begins a statement with the past, which is folded into the state for the command. */
export function given<State, Command, E extends AnyEvent>(
  decider: Decider<State, Command, E>,
  ...past: Past<E>
): Given<State, Command, E> {
  const state = stateAfter(decider, ...past)
  return { state, when: (command) => outcomeOf(decider.decide(command, state)) }
}

/** The state that the past folds into. */
export function stateAfter<State, Command, E extends AnyEvent>(
  decider: Decider<State, Command, E>,
  ...past: Past<E>
): State {
  return fold(decider, historyOf(...past))
}

/** The past in the form in which the log stores it. */
export function historyOf<E extends AnyEvent>(...past: Past<E>): readonly RecordedOf<E>[] {
  return past
    .flatMap((item): readonly E[] => ('type' in item ? [item] : item))
    .map((event, revision) => recorded(event, { revision }))
}

function outcomeOf<E extends AnyEvent>(decision: Decision<E>): Outcome<E> {
  const happens = (events: readonly E[]) => {
    expect(decision).toStrictEqual(events)
    for (const event of events) expectToFitItsSchema(event)
  }
  return {
    // The word of the given/when/then form; nobody awaits an outcome.
    // oxlint-disable-next-line unicorn/no-thenable
    then: happens,
    thenNothing: () => happens([]),
    thenRefused: (code, sentence) => {
      const refusal = isRefusal(decision) ? decision : undefined
      expect(refusal?.refused ?? decision).toBe(code)
      if (sentence === undefined) expect(refusal?.sentence).toMatch(/\w.*\.$/)
      else expect(refusal?.sentence).toBe(sentence)
    },
  }
}

/** An event that its own schema refuses could be appended but never be read again. */
export function expectToFitItsSchema(event: AnyEvent): void {
  const kind = eventKinds.get(event.type)
  expect(kind?.data.parse(event.data)).toStrictEqual(event.data)
  expect(kind?.content.parse(event.content)).toStrictEqual(event.content)
}
