/**
 * Removes blobs that nothing refers to any more: after a process was killed between storing a blob and its event, after an aborted upload, or after
 * an erasure that was given up. The log decides: a blob is kept while it is named by an event in a stream that has not ended.
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
/** How long every blob is kept, which is much longer than the time between storing a blob and appending the event that names it. */
const keptMs = dayMs
const intervalMs = dayMs
const afterFaultMs = 3_600_000
/** How long nothing is removed after the log turned out to be an older copy or another log, so that an operator can notice that. */
const otherLogMs = 7 * dayMs
/** The most blobs that are looked for in one reading of the log: some 50 MB of names. */
const atOnce = 250_000
const readBatch = 250
/** The pause after each batch is this many times as long as its reading took, because reading blocks the thread that also serves requests. */
const restShare = 3
/** After this many faults in a row, the store itself counts as faulty. */
const maxFaults = 100

/** The types of events that end a stream. After such an event, nothing that the stream names is ever opened again. */
const ends = new Set(['TaskDeleted', 'ImageDiscarded'])

/** Sweeps at once and then daily, or an hour after a failed sweep, until it is stopped. */
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
  /** The most blobs that are looked for in one reading of the log. */
  readonly blobsAtOnce?: number
}

/** Removes the blobs older than a day that no event needs any more. If some blobs could not be listed, throws after all that were listed. */
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

/** The list in batches of `size`. A fault is thrown after the items that came before it. */
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
 * Returns the hashes that no stream names, and those that only one stream names, if that stream has ended. Reads the log after the hashes were
 * listed. Returns none if there is a reason not to trust the log.
 */
async function unnamedOf(
  engines: BlobSweepEngines,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const known = await knownMark(engines)
  /** For each hash, the stream that names it; `null` while none was found. */
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
      // A blob that a second stream names is kept, whether or not the streams have ended.
      if (before !== null && before !== stream) namedIn.delete(hash)
      else namedIn.set(hash, stream)
      naming.add(stream)
    }
    if (ends.has(type) && naming.has(stream)) ended.add(stream)
  }
  if (signal.aborted || last === undefined) return []
  const isTrusted = await mark(engines, { known, last, goesOn })
  // A damaged record may have named any of the blobs.
  if (!isTrusted || !isWhole || (await isHurt(engines))) return []
  return [...namedIn].flatMap(([hash, stream]) => (stream === null || ended.has(stream) ? [hash] : []))
}

/** Reads all events of the log, with a pause after each batch. */
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

/** Stores which event was last when the log was last read. If the log no longer contains that event, it is another log or an older copy. */
const marks: Collection = { name: 'blob_sweeps', indexes: [] }
const Mark = z.object({
  position: z.string(),
  eventId: z.string(),
  /** Set when the log did not contain the event of the previous mark: nothing is removed before this time. */
  waitsUntil: z.iso.datetime().nullable(),
})
type Mark = z.infer<typeof Mark>
const markId = 'last'
/** Every mark gets this position, so that a new mark also replaces the mark of a longer log. */
const markPosition: Position = '0'

async function knownMark({ readStore }: BlobSweepEngines): Promise<Mark | undefined> {
  const document = await readStore.get(marks.name, markId)
  return document && Mark.parse(document)
}

/** Stores where the log ends now. Returns whether blobs may be removed: not for a week after the log lacked the previous mark's event. */
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

/** Whether events that may have named blobs are known to be missing or changed. A backup may restore them. */
async function isHurt({ readStore, logger }: BlobSweepEngines): Promise<boolean> {
  const [found] = await readStore.find(quarantine.name, {
    where: { reason: hurting },
    sort: { field: 'id', direction: 'ascending' },
    limit: 1,
  })
  if (found) logger.warn({ stream: found.id }, 'unreferenced blobs are kept while a stream is damaged')
  return found !== undefined
}

/** Removes the blobs with these hashes. A blob that cannot be removed is skipped, so that the others are still removed. Throws at `maxFaults`. */
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

/** Every hash in the data of an event, at any depth. Each may name a blob, even in kinds and versions of events that this version does not know. */
function* hashesIn(data: unknown): Generator<string> {
  if (typeof data === 'string') {
    if (sha256.test(data)) yield data
  } else if (typeof data === 'object' && data !== null) {
    for (const member of Object.values(data)) yield* hashesIn(member)
  }
}
