/** Events as the log keeps them, made for tests: revision and position count up, the moment stands still. */
import { eventKinds } from '#domain/events.ts'
import type { AnyEvent, RecordedOf } from '#domain/kernel/event.ts'

export const moment = '2026-01-01T00:00:00.000Z'

export interface Place {
  readonly revision: number
  readonly stream?: string
  /** Defaults to the revision. */
  readonly position?: string
  readonly at?: string
}

/** The event at a place in the log. */
export function recorded<E extends AnyEvent>(event: E, place: Place): RecordedOf<E> {
  const { revision, stream = 'task-test', position = String(revision), at = moment } = place
  // The compiler does not build a member of a conditional union from its parts; `event` holds type, data and content.
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

/** The event as it is read once its key is destroyed. */
export function erased<R extends { readonly content: unknown }>(event: R): R {
  return { ...event, content: null }
}
