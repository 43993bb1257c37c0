/** The stored form of our events in EventStoreDB. An event's facts and encrypted content are stored as data, and everything else as metadata. */
import type { EventData, RecordedEvent } from '@eventstore/db-client'
import { z } from 'zod'
import type { Position } from '#domain/kernel/event.ts'
import type { EventToAppend, LogRecord } from '../ports/eventStore.ts'
import { recordOf } from './storedRecord.ts'

/** Must be increased when the stored form changes. Logs of earlier versions cannot be read. */
const envelopeVersion = 2

const Data = z.strictObject({ data: z.unknown(), content: z.unknown() })
const Metadata = z.strictObject({
  flightdeck: z.literal(envelopeVersion),
  version: z.unknown(),
  at: z.unknown(),
  meta: z.unknown(),
})
const Ours = z.object({ flightdeck: z.number() })

// The value that the server sends for an unknown position.
const unknownPosition = 2n ** 64n - 1n

export function toEventStoreDb({ id, type, version, at, data, content, meta }: EventToAppend): EventData {
  return {
    id,
    contentType: 'application/json',
    type,
    data: { data, content },
    metadata: { flightdeck: envelopeVersion, version, at, meta },
  }
}

/** Whether the event is in our form. Other programs, and the server itself, may keep events on the same server. */
export function isOurs(event: RecordedEvent): boolean {
  return !event.streamId.startsWith('$') && Ours.safeParse(event.metadata).success
}

/** The event as it was appended. Anything that is not in our form is a damaged record. Throws for an older server. */
export function fromEventStoreDb(event: RecordedEvent): LogRecord {
  const { id, type, streamId: stream } = event
  const position = positionOf(event)
  if (position === null) throw new Error(olderServer)
  const { version, at, meta } = Metadata.safeParse(event.metadata).data ?? {}
  const { data, content } = Data.safeParse(event.data).data ?? {}
  return recordOf({
    id,
    stream,
    revision: Number(event.revision),
    position,
    type,
    version,
    at,
    data,
    content,
    meta,
  })
}

/** The message about a server that does not report positions for the events of a stream. */
export const olderServer = 'EventStoreDB 22.6 or later is required.'

/** The event's position in the whole log; `null` when the server does not report it. */
export function positionOf({ position }: RecordedEvent): Position | null {
  return position === undefined || position.commit === unknownPosition ? null : String(position.commit)
}
