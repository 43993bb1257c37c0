/** The seals in the log itself. */
import type { StoredEvent } from '#domain/kernel/event.ts'
import { sealStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import { notesOf } from '#domain/proof/sealNotes.ts'
import { LogSealed, type Seal } from '#domain/seal.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { OutsideSeal } from './sealsFile.ts'

/** A seal as the log has it. */
export interface RecordedSeal {
  readonly revision: number
  readonly hash: string
  readonly at: string
  readonly seal: Seal
}

type Streams = Pick<EventStore, 'readStream'>

/** The last seal of the log is not one any more. */
export class UnreadableSeal extends Error {
  override readonly name = 'UnreadableSeal'
}

/** The last seal of the epoch; `undefined` before the first. Throws `UnreadableSeal`. */
export async function newestSeal(store: Streams, { epoch }: LogIdentity): Promise<RecordedSeal | undefined> {
  const [last] = await store.readStream(sealStream(epoch), { from: 'end', direction: 'backwards', limit: 1 })
  const seal = last && recorded(last)
  if (last && !seal)
    throw new UnreadableSeal(`${last.stream} @ ${last.revision} cannot be read: it was changed.`)
  return seal
}

const page = 500

/** The seals of the epoch from a revision on, in order; without those that cannot be read. */
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

/** The seal as it is written outside of the database. */
export function outsideSeal(logId: string, { revision, at, seal }: RecordedSeal): OutsideSeal {
  return { revision, at, ...notesOf(logId, seal) }
}

function recorded({ revision, at, data, meta: { hash } }: StoredEvent): RecordedSeal | undefined {
  const seal = LogSealed.data.safeParse(data).data
  return seal && { revision, at, hash, seal }
}
