/** Events in the form in which the log stores them, for tests: revision and position increase, the time is always the same. */
import { eventKinds } from '#domain/events.ts'
import type { AnyEvent, RecordedOf } from '#domain/kernel/event.ts'

export const moment = '2026-01-01T00:00:00.000Z'

export interface Place {
  readonly revision: number
  readonly stream?: string
  /** The position in the log; the revision by default. */
  readonly position?: string
  readonly at?: string
}

/** The event as recorded at this place in the log. */
export function recorded<E extends AnyEvent>(event: E, place: Place): RecordedOf<E> {
  const { revision, stream = 'task-test', position = String(revision), at = moment } = place
  // The compiler cannot build a member of a conditional union from its parts; `event` has the type, data and content.
  return {
    ...event,
    id: `${stream}@${revision}`,
    stream,
    revision,
    position,
    version: eventKinds.get(event.type)?.version ?? 1,
    at,
    meta: {
      actor: { kind: 'system', service: 'test' },
      commandId: 'command',
      correlationId: 'correlation',
      causationId: null,
      follows: null,
      content: null,
      prev: '',
      hash: '',
    },
  } as unknown as RecordedOf<E>
}

/** The event as it is read after its key was destroyed. */
export function erased<R extends { readonly content: unknown }>(event: R): R {
  return { ...event, content: null }
}
