/**
 * Finds the records of the log that differ from the sealed records. Compares the log with the stored leaves of the hash tree, after checking that the
 * leaves match a seal.
 */
import { comparePositions } from '#domain/kernel/event.ts'
import { hexOf, leafOf } from '#domain/proof/bundleHashes.ts'
import { leafHash } from '#domain/proof/merkleTree.ts'
import { wholeLog, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { hashIn, standInHash } from '#platform/seals/damagedLeaf.ts'
import { rootAt, storedLeaves } from '#platform/seals/storedProofs.ts'
import { allStoredHeads, storedState } from '#platform/seals/sealTrees.ts'
import type { Claim } from './sealClaims.ts'

export type LeafWrong = 'sealed_changed' | 'sealed_added' | 'sealed_moved' | 'sealed_removed'
export interface LeafFault {
  readonly stream: string
  readonly revision: number
  readonly wrong: LeafWrong
}

export interface Stores {
  readonly eventStore: Pick<EventStore, 'readAll' | 'readStream'>
  readonly readStore: Pick<ReadStore, 'prepare' | 'get' | 'getMany' | 'find'>
}

interface Actual {
  readonly stream: string
  readonly revision: number
  /** The event's index when the log was sealed; `undefined` when no event with its present hash was sealed. */
  readonly sealed: number | undefined
  /** Whether the event came after the stored trees, so that nothing is known about it. */
  readonly isNew: boolean
}

/**
 * Compares the records of the log with the leaves under the seal of `claim`, and returns the records that differ. Returns `undefined` when the stored
 * leaves do not match that seal, so that no record can be named. The first `intact` events are known to be unchanged.
 */
export async function leafFaults(
  stores: Stores,
  claim: Claim,
  intact: number,
): Promise<readonly LeafFault[] | undefined> {
  const { readStore } = stores
  const root = await rootAt(readStore, 'log', claim.size)
  if (root === undefined || hexOf(root) !== claim.root) return undefined
  const sealed = new Map<string, number>()
  let index = 0
  for await (const leaf of storedLeaves(readStore, 'log', claim.size)) {
    if (index >= intact) sealed.set(hexOf(leaf), index)
    index += 1
  }
  const { actual, ends } = await actualEvents(stores, sealed, intact)
  const kept = longestIncreasing(actual)
  return [...alignedFaults(actual, kept, sealed.size, intact), ...(await removed(stores, claim, ends))]
}

interface Ends {
  /** The last revision of each stream. `missing` has the revisions that are missing before it. */
  readonly last: Map<string, number>
  readonly missing: LeafFault[]
}

async function actualEvents(
  { eventStore, readStore }: Stores,
  sealed: ReadonlyMap<string, number>,
  intact: number,
): Promise<{ actual: readonly Actual[]; ends: Ends }> {
  const upTo = (await storedState(readStore))?.last?.position ?? null
  const actual: Actual[] = []
  const ends: Ends = { last: new Map(), missing: [] }
  let count = 0
  for await (const event of wholeLog(eventStore)) {
    noteEnd(ends, event)
    count += 1
    if (count <= intact) continue
    const { stream, revision, position } = event
    const hash = (await hashIn(eventStore, event)) ?? standInHash(event)
    const at = sealed.get(hexOf(leafHash(cryptography.sha256, leafOf(hash))))
    const isNew = upTo === null || comparePositions(position, upTo) > 0
    actual.push({ stream, revision, sealed: at, isNew })
  }
  return { actual, ends }
}

function noteEnd({ last, missing }: Ends, { stream, revision }: LogRecord): void {
  const before = last.get(stream) ?? -1
  for (let gone = before + 1; gone < revision && missing.length < maxMissing; gone += 1)
    missing.push({ stream, revision: gone, wrong: 'sealed_removed' })
  last.set(stream, Math.max(before, revision))
}
const maxMissing = 1_000

/** The faults of the records in `actual`. Sealed records that are not in `kept` were moved. Records that were not sealed were changed or added. */
function alignedFaults(
  actual: readonly Actual[],
  kept: ReadonlySet<Actual>,
  sealedCount: number,
  intact: number,
): readonly LeafFault[] {
  const faults: LeafFault[] = []
  const present = new Set(actual.flatMap(({ sealed }) => sealed ?? []))
  let unknown: Actual[] = []
  let next = intact
  const close = (end: number) => {
    let gone = 0
    for (let at = next; at < end; at += 1) if (!present.has(at)) gone += 1
    for (const [at, { stream, revision, isNew }] of unknown.entries()) {
      if (at < gone && !isNew) faults.push({ stream, revision, wrong: 'sealed_changed' })
      else if (!isNew) faults.push({ stream, revision, wrong: 'sealed_added' })
    }
    unknown = []
  }
  for (const event of actual) {
    const { stream, revision, sealed } = event
    if (sealed === undefined) unknown.push(event)
    else if (!kept.has(event)) faults.push({ stream, revision, wrong: 'sealed_moved' })
    else {
      close(sealed)
      next = sealed + 1
    }
  }
  close(intact + sealedCount)
  return faults
}

async function removed(
  { readStore }: Stores,
  claim: Claim,
  { last, missing }: Ends,
): Promise<readonly LeafFault[]> {
  const faults = [...missing]
  for await (const [stream, { revision, index }] of allStoredHeads(readStore)) {
    if (index >= claim.size) continue
    const from = (last.get(stream) ?? -1) + 1
    for (let gone = from; gone <= revision && faults.length < maxMissing; gone += 1)
      faults.push({ stream, revision: gone, wrong: 'sealed_removed' })
  }
  return faults
}

/** The largest set of events that are in the sealed order. All others were moved. */
function longestIncreasing(actual: readonly Actual[]): ReadonlySet<Actual> {
  const ends: Actual[] = []
  const before = new Map<Actual, Actual | undefined>()
  for (const event of actual) {
    const { sealed } = event
    if (sealed === undefined) continue
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.sealed ?? 0) < sealed) low = middle + 1
      else high = middle
    }
    before.set(event, ends[low - 1])
    ends[low] = event
  }
  const kept = new Set<Actual>()
  for (let event = ends.at(-1); event !== undefined; event = before.get(event)) kept.add(event)
  return kept
}
