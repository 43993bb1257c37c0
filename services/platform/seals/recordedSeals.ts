/** Reads seals from the log. */
import { sealStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import { notesOf } from '#domain/proof/sealNotes.ts'
import { LogSealed, type Seal } from '#domain/seal.ts'
import { intact, isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import type { OutsideSeal } from './sealsFile.ts'

export interface RecordedSeal {
  readonly revision: number
  readonly hash: string
  readonly at: string
  readonly seal: Seal
}

type Streams = Pick<EventStore, 'readStream'>

/** Thrown when the last seal in the log is no longer a valid seal, or does not follow the seal before it. */
export class UnreadableSeal extends Error {
  override readonly name = 'UnreadableSeal'
}

/**
 * The newest seal of the epoch; `undefined` when there is none among its last 500 records. Damaged records are skipped. Throws `UnreadableSeal` when
 * the last intact record is not a valid seal, or when the last record does not follow the one before it.
 */
export async function newestSeal(store: Streams, { epoch }: LogIdentity): Promise<RecordedSeal | undefined> {
  // The two last records nearly always suffice.
  for (const limit of [2, page]) {
    const found = await store.readStream(sealStream(epoch), { from: 'end', direction: 'backwards', limit })
    const [end, before] = found
    if (end && !isDamaged(end) && before?.revision !== -1 && end.revision !== (before?.revision ?? -1) + 1)
      throw new UnreadableSeal(`${end.stream} @ ${end.revision} does not come after the seal before it.`)
    const [last] = intact(found)
    const seal = last && recorded(last)
    if (last && !seal)
      throw new UnreadableSeal(`${last.stream} @ ${last.revision} cannot be read: it was changed.`)
    if (seal) return seal
  }
  return undefined
}

/** Like `newestSeal`, but `undefined` for an unreadable seal. */
export async function readableSeal(store: Streams, identity: LogIdentity): Promise<RecordedSeal | undefined> {
  return newestSeal(store, identity).catch((fault: unknown) => {
    if (fault instanceof UnreadableSeal) return undefined
    throw fault
  })
}

const page = 500

/** The readable seals of the epoch, from a revision on, in order. */
export async function* sealsFrom(
  store: Streams,
  { epoch }: Pick<LogIdentity, 'epoch'>,
  revision: number,
): AsyncGenerator<RecordedSeal> {
  for (let from = revision; ; from += page) {
    const events = await store.readStream(sealStream(epoch), { from, direction: 'forwards', limit: page })
    yield* events.flatMap((event) => recorded(event) ?? [])
    if (events.length < page) return
  }
}

/** A seal in the form in which it is written outside of the database. */
export function outsideSeal(logId: string, { revision, at, seal }: RecordedSeal): OutsideSeal {
  return { revision, at, ...notesOf(logId, seal) }
}

function recorded(record: LogRecord): RecordedSeal | undefined {
  if (isDamaged(record)) return undefined
  const { revision, at, data, meta } = record
  const seal = LogSealed.data.safeParse(data).data
  return seal && { revision, at, hash: meta.hash, seal }
}
