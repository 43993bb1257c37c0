/**
 * Carries the log, the keys and the blobs of the data folder into EventStoreDB and MongoDB. No note says how far an earlier run got: each run reads
 * what is at the target, requires that it is the beginning of our log, and goes on from its end. The log comes last, so that each event finds its
 * keys and blobs there.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { openBothEnds, type StoresAtEnd } from '#platform/migrationStores.ts'
import { sha256 } from '#platform/hashes.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import { isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { DamagedBlob, EngineUnavailable, TooLarge } from '#platform/ports/faults.ts'
import type { Vault, VaultEntry } from '#platform/ports/vault.ts'
import type { OperationContext, OperationResult } from './operation.ts'

/** Thrown when the data cannot be carried over. The message says why, and what to do. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
}

interface Ends {
  readonly from: StoresAtEnd
  readonly to: StoresAtEnd
  readonly progress: (line: string) => void
}

const page = 2_000
/** How often a call is repeated while its engine does not answer. Each call itself waits for some seconds. */
const attempts = 20
const betweenAttemptsMs = 1_000
/** The most characters of several events in one append. EventStoreDB takes 1 MiB by default, and a character may have three bytes. */
const appendLength = 262_144
/** The three parts that are carried, as sentences name them. */
const parts = { events: 'The events', blobs: 'The blobs', keys: 'The keys and secrets' } as const

/** Carries the data folder over, and compares both ends. Throws `MigrationRefused`. */
export async function migrate(context: OperationContext): Promise<OperationResult> {
  const { config, logger, progress } = context
  const { eventStore, mongo, nats } = config.engines
  // NATS is needed too: a queue in the data folder stores positions of the embedded log, which differ in EventStoreDB.
  if (eventStore === null || mongo === null || nats === null)
    throw new MigrationRefused('Set EVENTSTORE_URL, MONGODB_URL and NATS_URL: they name where the data goes.')
  if (!existsSync(join(config.dataDir, 'events.sqlite')))
    throw new MigrationRefused(
      `There is no data folder at ${config.dataDir}. Name it with --data or DATA_DIR.`,
    )
  if (!existsSync(join(config.dataDir, 'vault.sqlite')))
    throw new MigrationRefused(
      `The data folder at ${config.dataDir} has no keys (vault.sqlite). Put them back from a backup; keys that are in MongoDB cannot be carried.`,
    )
  const { close, isFollowed, ...stores } = await openBothEnds(config, logger)
  try {
    const ends: Ends = { ...stores, progress }
    if ((await patiently(() => ends.to.readStore.catalog())).log !== null || (await isFollowed()))
      throw new MigrationRefused(
        'Flightdeck has already run on these engines, so nothing was copied. Give it an empty EventStoreDB, MongoDB and NATS.',
      )
    const there = await sharedLog(ends)
    const { keys, isOurs } = await carryKeys(ends, there.events > 0)
    const blobs = await carryBlobs(ends, isOurs)
    await carryEvents(ends, there)
    const { events, streams } = await sameAtBothEnds(ends, { keys, blobs })
    return {
      lines: [
        `The data of ${config.dataDir} is in EventStoreDB and MongoDB, the same at both ends: ${events} events in ${streams} streams, ${blobs.size} blobs, ${keys.size} keys and secrets.`,
        'Read models and the queue are made again from the log at the next start. Idempotency-Keys were not taken along.',
        `Start Flightdeck with the same variables. Its seals go on in ${config.seals.file}. The data folder still has all that it had.`,
      ],
    }
  } finally {
    await close()
  }
}

/** How much of our log is at the target. */
interface SharedLog {
  readonly events: number
  readonly streams: number
  /** The position in our log of the last shared event. */
  readonly last: Position | null
}

/** Compares both logs from their beginning to the end of the target's. Throws at the first event there that is not ours. */
async function sharedLog({ from, to, progress }: Ends): Promise<SharedLog> {
  let [events, streams] = [0, 0]
  let last: Position | null = null
  for (let lastThere: Position | null = null; ;) {
    const theirs: readonly LogRecord[] = await patiently(() => to.eventStore.readAll(lastThere, page))
    const ours: readonly LogRecord[] = await from.eventStore.readAll(last, theirs.length)
    for (const [index, record] of theirs.entries()) {
      refuseUnlessSame(ours[index], record, events + index === 0)
      if (record.revision === 0) streams += 1
    }
    events += theirs.length
    last = ours.at(-1)?.position ?? last
    lastThere = theirs.at(-1)?.position ?? lastThere
    if (theirs.length < page) return { events, streams, last }
    progress(`${events} events compared`)
  }
}

function refuseUnlessSame(ours: LogRecord | undefined, theirs: LogRecord, isFirst: boolean): void {
  const what = `${theirs.stream} @ ${theirs.revision}`
  if (ours === undefined)
    throw new MigrationRefused(
      `EventStoreDB has ${what}, which the data folder does not have: something else writes there.`,
    )
  if (isDeepStrictEqual({ ...ours, position: '' }, { ...theirs, position: '' })) return
  throw new MigrationRefused(
    isFirst
      ? `EventStoreDB already has another log, which begins with ${what}. Give it an empty one.`
      : `EventStoreDB has ${what} where the data folder has ${ours.stream} @ ${ours.revision}, and they differ. Nothing more was copied.`,
  )
}

/**
 * Appends what is missing at the target, one append after the other: two at once could be stored in either order, and seals are over the order of the
 * whole log.
 */
async function carryEvents({ from, to, progress }: Ends, { events, last }: SharedLog): Promise<void> {
  const total = Number((await from.eventStore.head()) ?? 0)
  const begun = performance.now()
  let after = last
  for (let copied = 0; ;) {
    const records = await from.eventStore.readAll(after, page)
    for (const run of runsOf(records.map(intactEvent))) await appendRun(to.eventStore, run)
    copied += records.length
    after = records.at(-1)?.position ?? after
    if (records.length < page) return
    const perSecond = (copied / (performance.now() - begun)) * 1_000
    // Positions of the embedded log number its events, with rare gaps.
    const seconds = Math.max(0, total - events - copied) / perSecond
    progress(
      `${events + copied} of ${total} events, ${Math.round(perSecond)} a second, ${Math.ceil(seconds / 60)} min left`,
    )
  }
}

function intactEvent(record: LogRecord): StoredEvent {
  if (!isDamaged(record)) return record
  throw new MigrationRefused(
    `${record.stream} @ ${record.revision} is damaged and cannot be copied. Put it back from a backup; verify lists all that is damaged.`,
  )
}

/** Groups the events, in their order, into runs that one append can store. */
function runsOf(events: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
  const runs: StoredEvent[][] = []
  let length = 0
  for (const event of events) {
    const before = runs.at(-1)?.at(-1)
    const own = JSON.stringify([event.data, event.content, event.meta]).length
    length += own
    const isNext = before?.stream === event.stream && before.revision + 1 === event.revision
    if (isNext && length <= appendLength) runs.at(-1)?.push(event)
    else {
      runs.push([event])
      length = own
    }
  }
  return runs
}

async function appendRun(eventStore: Pick<EventStore, 'append'>, run: readonly StoredEvent[]): Promise<void> {
  const [first] = run
  if (!first) return
  const { stream, revision } = first
  const toAppend = run.map(({ position: _position, ...event }) => event)
  const result = await patiently(() => eventStore.append(stream, revision - 1, toAppend)).catch(
    (fault: unknown) => {
      if (!(fault instanceof TooLarge)) throw fault
      throw new MigrationRefused(
        `${stream} @ ${revision}: ${fault.message} Raise MaxAppendSize of EventStoreDB, and run migrate again.`,
        { cause: fault },
      )
    },
  )
  if (result.kind === 'conflict')
    throw new MigrationRefused(
      `${stream} @ ${revision} does not follow revision ${result.actual}, the last one in EventStoreDB: the data folder lacks an event, or something else writes there.`,
    )
}

/** Repeats a call while its engine is unavailable, so that a short outage does not end a long copy. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let left = attempts; ; left -= 1) {
    try {
      return await call()
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable)) throw fault
      if (left === 0)
        throw new MigrationRefused(`${fault.message}. Run migrate again: it goes on.`, { cause: fault })
      await pause(betweenAttemptsMs)
    }
  }
}

/** The hash of each entry by its place, to compare two vaults without their secrets. */
type Keys = ReadonlyMap<string, string>
const Place = z.tuple([z.string(), z.string().nullable()])
const placeOf = ({ scope, name }: VaultEntry) => JSON.stringify([scope, name])
const destroyed = 'destroyed'
const hashOf = ({ sealed }: VaultEntry) => (sealed === null ? destroyed : sha256(sealed))

async function keysIn(vault: Pick<Vault, 'entries'>): Promise<Keys> {
  const keys = new Map<string, string>()
  for await (const entries of vault.entries())
    for (const entry of entries) keys.set(placeOf(entry), hashOf(entry))
  return keys
}

/**
 * Carries keys and secrets that are missing at the target or were changed since, and removes secrets that we no longer have. `isOurs` says whether an
 * earlier run began the target: its log has our events, or its vault has one of our entries, which are sealed with random bytes.
 */
async function carryKeys({ from, to, progress }: Ends, hasOurEvents: boolean) {
  const ours = await keysIn(from.vault)
  const theirs = await patiently(() => keysIn(to.vault))
  const isOurs =
    hasOurEvents || [...theirs].some(([place, hash]) => hash !== destroyed && ours.get(place) === hash)
  for (const place of theirs.keys()) {
    if (ours.has(place)) continue
    const [scope, name] = Place.parse(JSON.parse(place))
    if (!isOurs || name === null) throw foreign(parts.keys)
    await patiently(() => to.vault.removeSecret(scope, name))
  }
  let carried = 0
  for await (const entries of from.vault.entries()) {
    const missing = entries.filter((entry) => theirs.get(placeOf(entry)) !== hashOf(entry))
    await patiently(() => to.vault.importEntries(missing))
    carried += entries.length
    progress(`${carried} of ${ours.size} keys and secrets`)
  }
  return { keys: ours, isOurs }
}

async function blobsIn(blobs: Pick<Blobs, 'list'>): Promise<Set<string>> {
  const hashes = new Set<string>()
  for await (const hash of blobs.list(new Date('9999-01-01'))) hashes.add(hash)
  return hashes
}

/** Carries all blobs, and removes those that we no longer have. A blob that is there already is not sent again. */
async function carryBlobs({ from, to, progress }: Ends, isOurs: boolean): Promise<ReadonlySet<string>> {
  const ours = await blobsIn(from.blobs)
  for (const hash of await patiently(() => blobsIn(to.blobs))) {
    if (ours.has(hash)) continue
    if (!isOurs) throw foreign(parts.blobs)
    await patiently(() => to.blobs.remove(hash))
  }
  let carried = 0
  for (const hash of ours) {
    const bytes = await from.blobs.get(hash).catch((fault: unknown) => {
      if (!(fault instanceof DamagedBlob)) throw fault
      throw new MigrationRefused(
        `${fault.message} Put it back from a backup, or remove the file if verify finds the log whole: then nothing needs it.`,
        { cause: fault },
      )
    })
    if (bytes) await patiently(() => to.blobs.put(bytes))
    carried += 1
    progress(`${carried} of ${ours.size} blobs`)
  }
  return ours
}

const foreign = (what: string) =>
  new MigrationRefused(`${what} in MongoDB are not those of the data folder. Give it an empty database.`)

/** Reads both ends once more, and throws if anything differs. */
async function sameAtBothEnds(
  ends: Ends,
  { keys, blobs }: { readonly keys: Keys; readonly blobs: ReadonlySet<string> },
): Promise<SharedLog> {
  const { from, to } = ends
  const shared = await sharedLog(ends)
  const rest = await from.eventStore.readAll(shared.last, 1)
  if (rest.length > 0) throw differs(parts.events)
  if (!isDeepStrictEqual(await patiently(() => keysIn(to.vault)), keys)) throw differs(parts.keys)
  if (!isDeepStrictEqual(await patiently(() => blobsIn(to.blobs)), blobs)) throw differs(parts.blobs)
  for (const hash of blobs)
    if ((await patiently(() => to.blobs.check(hash))) !== 'whole') throw differs(parts.blobs)
  return shared
}

const differs = (what: string) =>
  new MigrationRefused(`${what} differ at both ends after the copy: something else wrote to the engines.`)
