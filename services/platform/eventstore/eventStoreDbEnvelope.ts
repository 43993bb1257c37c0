/** Our events as EventStoreDB keeps them: facts and sealed content as its data, the rest of the envelope as its metadata. */
import type { EventData, RecordedEvent } from '@eventstore/db-client'
import { z } from 'zod'
import type { Position } from '#domain/kernel/event.ts'
import type { EventToAppend, LogRecord } from '../ports/eventStore.ts'
import { recordOf } from './storedRecord.ts'

/** Counts up when what is written here changes. Those before it are of logs that are not read any more. */
const envelopeVersion = 2

const Data = z.strictObject({ data: z.unknown(), content: z.unknown() })
const Metadata = z.strictObject({
  flightdeck: z.literal(envelopeVersion),
  version: z.unknown(),
  at: z.unknown(),
  meta: z.unknown(),
})
const Ours = z.object({ flightdeck: z.number() })

// What a server says that does not know the position.
const unknownPosition = 2n ** 64n - 1n

/** The event as the client library takes it. */
export function toEventStoreDb({ id, type, version, at, data, content, meta }: EventToAppend): EventData {
  return {
    id,
    contentType: 'application/json',
    type,
    data: { data, content },
    metadata: { flightdeck: envelopeVersion, version, at, meta },
  }
}

/** Another program may keep its events on the same server, and the server keeps some of its own. */
export function isOurs(event: RecordedEvent): boolean {
  return !event.streamId.startsWith('$') && Ours.safeParse(event.metadata).success
}

/** What was appended, as it was; a damaged record for what is not in our form, as of another program. Throws for an older server. */
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

/** What is said of a server that does not tell positions of the events of a stream. */
export const olderServer = 'EventStoreDB 22.6 or later is required.'

/** Where the event lies in the whole log; `null` when the server does not say. */
export function positionOf({ position }: RecordedEvent): Position | null {
  return position === undefined || position.commit === unknownPosition ? null : String(position.commit)
}
