/**
 * Removes blobs that nothing refers to any more: of a process that was killed between a blob and its event, of an upload that came to nothing, of a
 * task whose erasure was given up. The log decides: a blob is kept as long as it is named by an event of a stream that has not ended.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import {
  damageReasons,
  type Position,
  type StoredEvent,
  type UnreadableReason,
} from '#domain/kernel/event.ts'
import type { Engines } from '#platform/compose.ts'
import { repeat } from '#platform/async/rounds.ts'
import { quarantine } from '#platform/eventlog/quarantine.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import type { Collection } from '#platform/ports/readStore.ts'

export interface BlobSweepEngines extends Pick<Engines, 'readStore' | 'clock' | 'logger'> {
  readonly eventStore: Pick<EventStore, 'readAll'>
  readonly blobs: Pick<SealedBlobs, 'list' | 'remove'>
}

const dayMs = 86_400_000
/** Far longer than anybody takes from putting a blob to appending the event that names it. */
const keptMs = dayMs
const intervalMs = dayMs
const afterFaultMs = 3_600_000
/** How long an operator has to notice that the log is an older one, or somebody else's. */
const otherLogMs = 7 * dayMs
/** Blobs that are looked for in one reading of the log: some 50 MB of names. */
const atOnce = 250_000
const readBatch = 250
/** Reading takes a quarter of the time: it holds the thread that also serves requests. */
const restShare = 3
/** After this many in a row it is the store that fails, and not single blobs. */
const maxFaults = 100

/** Streams come to their end with these: nothing that they name is ever opened again. */
const ends = new Set(['TaskDeleted', 'ImageDiscarded'])

/** Sweeps at once and each day, until it is stopped. */
export const startBlobSweep = (engines: BlobSweepEngines): RunningWork =>
  repeat(async (signal) => {
    try {
      await sweepBlobs(engines, { signal })
      return intervalMs
    } catch (fault) {
      if (!signal.aborted) engines.logger.error({ err: fault }, 'failed to remove unreferenced blobs')
      return afterFaultMs
    }
  })

export interface Sweeping {
  readonly signal?: AbortSignal
  /** How many blobs are looked for in one reading of the log. */
  readonly blobsAtOnce?: number
}

/** Looks once at every blob that is older than a day. Throws what could not be listed, after all that could. */
export async function sweepBlobs(
  engines: BlobSweepEngines,
  { signal = new AbortController().signal, blobsAtOnce = atOnce }: Sweeping = {},
): Promise<void> {
  const { blobs, clock, readStore } = engines
  const putBefore = new Date(clock.now().getTime() - keptMs)
  await readStore.prepare([marks, quarantine])
  for await (const hashes of batches(blobs.list(putBefore), blobsAtOnce, signal)) {
    const unnamed = await unnamedOf(engines, hashes, signal)
    if (signal.aborted) return
    await removeEach(engines, unnamed, putBefore, signal)
  }
}

/** The list in batches of `size`; a fault comes after all that came before it. */
async function* batches(
  listed: AsyncIterable<string>,
  size: number,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  let batch: string[] = []
  try {
    for await (const hash of listed) {
      if (signal.aborted) return
      if (batch.push(hash) < size) continue
      yield batch
      batch = []
    }
  } catch (fault) {
    if (batch.length > 0) yield batch
    throw fault
  }
  if (batch.length > 0) yield batch
}

/**
 * The hashes that no stream names which has not ended, by the log as it is after they were listed; none if there is a reason not to trust the log.
 */
async function unnamedOf(
  engines: BlobSweepEngines,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const known = await knownMark(engines)
  /** By hash, the stream that names it. */
  const namedIn = new Map<string, string | null>(hashes.map((hash) => [hash, null]))
  const naming = new Set<string>()
  const ended = new Set<string>()
  let last: StoredEvent | undefined
  let isWhole = true
  let goesOn = known === undefined
  for await (const event of wholeLog(engines, signal)) {
    if (isDamaged(event)) {
      isWhole = false
      continue
    }
    const { stream, type, data } = event
    last = event
    goesOn ||= event.id === known?.eventId && event.position === known.position
    for (const hash of hashesIn(data)) {
      const before = namedIn.get(hash)
      if (before === undefined) continue
      // A blob that a second stream names is kept, whatever becomes of either stream.
      if (before !== null && before !== stream) namedIn.delete(hash)
      else namedIn.set(hash, stream)
      naming.add(stream)
    }
    if (ends.has(type) && naming.has(stream)) ended.add(stream)
  }
  if (signal.aborted || last === undefined) return []
  const isTrusted = await mark(engines, { known, last, goesOn })
  // A damaged record may have named any of them.
  if (!isTrusted || !isWhole || (await isHurt(engines))) return []
  return [...namedIn].flatMap(([hash, stream]) => (stream === null || ended.has(stream) ? [hash] : []))
}

/** Every event there is, read slowly. */
async function* wholeLog(
  { eventStore }: Pick<BlobSweepEngines, 'eventStore'>,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  for (let after: Position | null = null; !signal.aborted;) {
    const begun = performance.now()
    const events: readonly LogRecord[] = await eventStore.readAll(after, readBatch)
    yield* events
    const end = events.at(-1)
    if (!end || events.length < readBatch) return
    after = end.position
    const spentMs = performance.now() - begun
    await pause(spentMs * restShare, undefined, { signal }).catch(() => undefined)
  }
}

/** Where the log ended when it was read last: a log without this event is another one, or an older copy. */
const marks: Collection = { name: 'blob_sweeps', indexes: [] }
const Mark = z.object({
  position: z.string(),
  eventId: z.string(),
  /** Nothing is removed before this time: the log did not go on from the mark before this one. */
  waitsUntil: z.iso.datetime().nullable(),
})
type Mark = z.infer<typeof Mark>
const markId = 'last'
/** One mark takes the place of another also where its log is shorter. */
const markPosition: Position = '0'

async function knownMark({ readStore }: BlobSweepEngines): Promise<Mark | undefined> {
  const document = await readStore.get(marks.name, markId)
  return document && Mark.parse(document)
}

/** Remembers where the log ends now. Whether blobs may be removed by it: at once where it goes on from the last mark, else after a week. */
async function mark(
  { readStore, clock, logger }: BlobSweepEngines,
  read: { readonly known: Mark | undefined; readonly last: StoredEvent; readonly goesOn: boolean },
): Promise<boolean> {
  const { known, last, goesOn } = read
  const now = clock.now()
  const waitsUntil = goesOn ? (known?.waitsUntil ?? null) : new Date(now.getTime() + otherLogMs).toISOString()
  if (!goesOn)
    logger.warn({ waitsUntil }, 'the log was replaced or restored: unreferenced blobs are kept for a week')
  const next: Mark = { position: last.position, eventId: last.id, waitsUntil }
  await readStore.apply(
    [
      {
        kind: 'put',
        collection: marks.name,
        document: { id: markId, ...next },
        position: markPosition,
      },
    ],
    null,
  )
  return waitsUntil === null || now.getTime() >= Date.parse(waitsUntil)
}

const hurting: readonly UnreadableReason[] = [
  ...damageReasons,
  'changed',
  'broken_chain',
  'wrong_shape',
  'truncated',
  'deleted',
]

/** Whether events are known to be missing, or changed, that may have named blobs and may be restored from a backup. */
async function isHurt({ readStore, logger }: BlobSweepEngines): Promise<boolean> {
  const [found] = await readStore.find(quarantine.name, {
    where: { reason: hurting },
    sort: { field: 'id', direction: 'ascending' },
    limit: 1,
  })
  if (found) logger.warn({ stream: found.id }, 'unreferenced blobs are kept while a stream is damaged')
  return found !== undefined
}

/** One that cannot be removed holds up none of the others. */
async function removeEach(
  { blobs, logger }: Pick<BlobSweepEngines, 'blobs' | 'logger'>,
  hashes: readonly string[],
  putBefore: Date,
  signal: AbortSignal,
): Promise<void> {
  let removed = 0
  let faultsInARow = 0
  for (const hash of hashes) {
    if (signal.aborted) break
    try {
      await blobs.remove({ hash }, putBefore)
      removed += 1
      faultsInARow = 0
    } catch (fault) {
      logger.warn({ err: fault, blob: hash }, 'failed to remove an unreferenced blob')
      faultsInARow += 1
      if (faultsInARow === maxFaults) throw fault
    }
  }
  if (removed > 0) logger.info({ removed }, 'unreferenced blobs removed')
}

const sha256 = /^[0-9a-f]{64}$/

/**
 * Every hash in the data of an event, at any depth. Each may name a blob, also in kinds and versions of events that this version does
 * not know.
 */
function* hashesIn(data: unknown): Generator<string> {
  if (typeof data === 'string') {
    if (sha256.test(data)) yield data
  } else if (typeof data === 'object' && data !== null) {
    for (const member of Object.values(data)) yield* hashesIn(member)
  }
}
