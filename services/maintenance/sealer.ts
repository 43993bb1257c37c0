/**
 * Seals the log: reads all of it in order, and signs its state every few seconds. A seal is appended to the log and also written outside of it.
 * Everything that was sealed before must be the beginning of the present log; otherwise nothing is signed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sealStream } from '#domain/kernel/streams.ts'
import { hexOf, originOf } from '#domain/proof/bundleHashes.ts'
import { sealTexts } from '#domain/proof/sealNotes.ts'
import { LogSealed } from '#domain/seal.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import { serialize } from '#platform/async/queue.ts'
import { repeat } from '#platform/async/rounds.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { emptyHead, type EventLog } from '#platform/eventlog/eventLog.ts'
import { isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import {
  newestSeal,
  outsideSeal,
  sealsFrom,
  UnreadableSeal,
  type RecordedSeal,
} from '#platform/seals/recordedSeals.ts'
import { hashIn, standInHash } from '#platform/seals/damagedLeaf.ts'
import { contradictionIn, type SealedBefore } from '#platform/seals/earlierSealCheck.ts'
import {
  secondPlaces,
  type SealedLogView,
  type SecondPlace,
  type SecondPlaces,
} from '#platform/seals/secondPlaces.ts'
import { storedConsistency } from '#platform/seals/storedProofs.ts'
import { sealsFile, type SealsFile } from '#platform/seals/sealsFile.ts'
import {
  addRecord,
  clearedTrees,
  openSealTrees,
  rootsOf,
  storeTrees,
  type SealTrees,
} from '#platform/seals/sealTrees.ts'
import { openSigningKeys } from '#platform/seals/signingKeys.ts'

export interface SealerEngines extends Pick<
  Engines,
  'readStore' | 'logIdentity' | 'logDamage' | 'rpc' | 'clock' | 'emit' | 'logger'
> {
  readonly eventStore: Pick<EventStore, 'readAll' | 'readStream'>
  readonly log: Pick<EventLog, 'append'>
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret'>
}

export interface Sealing {
  /** The time from one attempt to seal to the next, unless somebody requests a seal earlier. */
  readonly intervalMs: number
  /** The file outside of the database to which seals are written. */
  readonly file: string
  /** Additional places to which seals are copied: every seal, or only the newest one when a place is slow. */
  readonly places?: readonly SecondPlace[]
  /** Called with all sentences for the operator, whenever they change. */
  readonly tell: (sentences: readonly string[]) => void
}

interface Sealer {
  readonly engines: SealerEngines
  readonly file: SealsFile
  readonly places: SecondPlaces
  readonly tell: Sealing['tell']
  readonly signal: AbortSignal
  /** Damaged records whose hash was already lost when they were added to the trees. */
  readonly unknown: string[]
  trees: SealTrees
  /** Why nothing is signed; `null` when sealing is allowed. */
  refusal: string | null
  /** Whether the second places were asked about the newest seal. */
  isChecked: boolean
  /** The newest seal that this process knows. */
  newest: RecordedSeal | undefined
  /** When this process made its last seal, in ms of `performance.now()`. */
  sealedAt: number
}

const page = 500
const storedEvery = 5_000
const shortestMs = 500

/** Seals the log until it is stopped. */
export async function startSealer(
  engines: SealerEngines,
  { intervalMs, file: path, places = [], tell }: Sealing,
): Promise<RunningWork> {
  const stopping = new AbortController()
  const { signal } = stopping
  const file = sealsFile(path)
  const view: SealedLogView = {
    identity: engines.logIdentity,
    consistency: (older, newer) => storedConsistency(engines.readStore, 'log', older, newer),
    contradiction: (note) => contradiction(sealer, { where: 'in the git repository', note }),
  }
  const sealer: Sealer = {
    engines,
    file,
    places: secondPlaces(places, view, {
      logger: engines.logger,
      onCosigned: (seal) => file.append([seal]),
    }),
    tell,
    signal,
    unknown: [],
    trees: await openSealTrees(engines.readStore, engines.logIdentity),
    isChecked: false,
    refusal: null,
    newest: undefined,
    sealedAt: -shortestMs,
  }
  const inOrder = serialize()
  const round = () =>
    inOrder(async () => {
      // Waits, so that many requests do not fill the log with seals.
      await pause(Math.max(0, sealer.sealedAt + shortestMs - performance.now()), undefined, { signal }).catch(
        () => undefined,
      )
      return signal.aborted ? undefined : sealOrTell(sealer)
    })
  const stopAnswering = engines.rpc.handle('seal', async () => {
    const seal = await round()
    return seal && { revision: seal.revision }
  })
  const running = repeat(async () => {
    await round()
    return intervalMs
  })
  return {
    async stop() {
      stopAnswering()
      stopping.abort()
      await sealer.places.stop()
      await running.stop()
      await inOrder(() => undefined)
      engines.emit({ kind: 'sealer', state: null })
      tell([])
    },
  }
}

/** Seals the log. If that fails, tells the operator and returns `undefined`. An unavailable engine is reported elsewhere. */
async function sealOrTell(sealer: Sealer): Promise<RecordedSeal | undefined> {
  try {
    return await sealNow(sealer)
  } catch (fault) {
    if (sealer.signal.aborted || fault instanceof EngineUnavailable) return undefined
    sealer.engines.logger.error({ err: fault }, 'failed to seal the log')
    const why = fault instanceof Error ? fault.message : String(fault)
    report(sealer, `The log cannot be sealed: ${why}`, undefined)
    return undefined
  }
}

/** Reads the log to its end and seals it if there are new events. Returns the newest seal; `undefined` while nothing may be signed. */
async function sealNow(sealer: Sealer, attemptsLeft = 3): Promise<RecordedSeal | undefined> {
  const { engines, signal } = sealer
  if (engines.logDamage !== null) {
    report(sealer, `The log is not sealed. ${engines.logDamage} ${mended}`, undefined)
    return undefined
  }
  await follow(sealer)
  if (signal.aborted || sealer.trees.log.size === 0) return undefined
  const newest = await newestSeal(engines.eventStore, engines.logIdentity).catch((fault: unknown) => {
    if (fault instanceof UnreadableSeal) return fault
    throw fault
  })
  if (newest instanceof UnreadableSeal) {
    report(sealer, `${newest.message} Run: npm start -- verify`, undefined)
    return undefined
  }
  const refusal = await reasonToRefuse(sealer, newest)
  if (signal.aborted) return undefined
  if (refusal !== null) {
    report(sealer, refusal, newest)
    return undefined
  }
  await completeFile(sealer, newest)
  report(sealer, null, newest)
  if (sealer.trees.unsealed === 0) return newest
  const sealed = await appendSeal(sealer)
  if (sealed === undefined) {
    // Another process has added a seal, which has to be read first, or a record of the stream was moved.
    if (attemptsLeft > 1) return sealNow(sealer, attemptsLeft - 1)
    const stream = sealStream(engines.logIdentity.epoch)
    report(
      sealer,
      `No seal can be added to ${stream}: a record of it was moved. Run: npm start -- verify`,
      newest,
    )
    return undefined
  }
  const outside = outsideSeal(engines.logIdentity.logId, sealed)
  await sealer.file.append([outside])
  sealer.places.publish(outside)
  sealer.trees.unsealed = 0
  sealer.sealedAt = performance.now()
  report(sealer, null, sealed)
  return sealed
}

const mended = 'Put its own stream back from a backup, and restart Flightdeck.'

/**
 * Adds new events to the trees. If the log does not continue where they end, it is read again from its beginning. The newest seal is added only with
 * a later event, which the next seal covers: it would change the tree of stream ends, which is kept only as it is now.
 */
async function follow(sealer: Sealer): Promise<void> {
  const { engines, signal } = sealer
  if (!(await goesOn(sealer))) {
    engines.logger.error('the log does not go on from where it was sealed: it is read from its beginning')
    sealer.trees = await clearedTrees(engines.readStore, engines.logIdentity)
    sealer.unknown.length = 0
  }
  const { trees } = sealer
  for (let notStored = 0; !signal.aborted;) {
    const begun = performance.now()
    const read = await engines.eventStore.readAll(trees.last?.position ?? null, page)
    const isEnd = read.length < page
    const events = beforeOwnSeal(trees, read)
    for (const record of events) {
      const hash = await hashIn(engines.eventStore, record)
      if (hash === undefined) sealer.unknown.push(`${record.stream} @ ${record.revision}`)
      addRecord(trees, record, hash ?? standInHash(record))
    }
    if (events.length < read.length) trees.unsealed = 0
    notStored += events.length
    if (notStored > 0 && (isEnd || notStored >= storedEvery)) {
      await storeTrees(engines.readStore, trees)
      notStored = 0
    }
    if (isEnd) return
    // Pauses for as long as the work has taken, so that a long log leaves half of the thread's time for requests.
    await pause(performance.now() - begun, undefined, { signal }).catch(() => undefined)
  }
}

/** Leaves out the last record if it is a seal over the trees as they are after all other records were added. */
function beforeOwnSeal({ identity, log }: SealTrees, records: readonly LogRecord[]): readonly LogRecord[] {
  const last = records.at(-1)
  if (last === undefined || isDamaged(last)) return records
  if (last.type !== LogSealed.type || last.stream !== sealStream(identity.epoch)) return records
  const seal = LogSealed.data.safeParse(last.data).data
  return seal?.size === log.size + records.length - 1 ? records.slice(0, -1) : records
}

/** Whether the last event in the trees is still in the log at the same place. A damaged event at this place counts as still there. */
async function goesOn({ engines, trees: { last } }: Sealer): Promise<boolean> {
  if (last === null) return true
  const { stream, revision: from } = last
  const [event] = await engines.eventStore.readStream(stream, { from, direction: 'forwards', limit: 1 })
  if (event?.revision !== from || event.position !== last.position) return false
  if (isDamaged(event) || event.meta.hash === last.hash) return true
  return digestsOf(event).hash !== event.meta.hash
}

/** Why nothing may be signed, in a sentence; `null` when all earlier seals fit the log. */
async function reasonToRefuse(sealer: Sealer, newest: RecordedSeal | undefined): Promise<string | null> {
  const { engines, trees, file } = sealer
  const { logIdentity } = engines
  if (trees.newerEpoch !== null)
    return `The log has entered epoch ${trees.newerEpoch}. Restart Flightdeck to go on in it.`
  const outside = await file.newest()
  const inLog = newest && outsideSeal(logIdentity.logId, newest)
  const before: SealedBefore[] = [
    ...(inLog ? [{ where: 'in the log', note: inLog.checkpoint }] : []),
    ...(outside ? [{ where: 'in the file of seals', note: outside.checkpoint }] : []),
  ]
  for (const each of before) {
    const found = await contradiction(sealer, each)
    if (found !== undefined) return found + lostHashes(sealer)
  }
  if (inLog && !sealer.isChecked) await sealer.places.check(inLog)
  sealer.isChecked = true
  return sealer.places.contradiction()
}

/** A sentence about damaged records whose hash is lost, since these may be why the trees differ from the sealed ones; '' when there are none. */
function lostHashes({ unknown }: Sealer): string {
  if (unknown.length === 0) return ''
  const named = unknown.slice(0, maxNamed).join(', ')
  return ` The hash of a damaged record is lost: ${named}. Put the record back from a backup, or the read models that still have its hash (views.sqlite).`
}
const maxNamed = 10

async function contradiction(
  { engines: { vault, logIdentity, clock, readStore }, trees }: Sealer,
  before: SealedBefore,
): Promise<string | undefined> {
  const keys = await openSigningKeys(vault, logIdentity, clock)
  const log = { identity: logIdentity, keys: keys.verifiers, size: trees.log.size, readStore }
  return contradictionIn(before, log)
}

/** Adds to the file the seals that only the log has, for example because the process was killed or the disk was full. */
async function completeFile(
  { engines: { eventStore, logIdentity, logger }, file }: Sealer,
  newest: RecordedSeal | undefined,
): Promise<void> {
  if (newest === undefined) return
  const outside = await file.newest()
  const isOfEpoch = outside?.checkpoint.startsWith(`${originOf(logIdentity)}\n`) === true
  const next = isOfEpoch ? outside.revision + 1 : 0
  if (next > newest.revision) return
  const missing: RecordedSeal[] = []
  for await (const seal of sealsFrom(eventStore, logIdentity, next)) missing.push(seal)
  // A process that was killed leaves out one seal at most, so only more than one missing seal is reported.
  if (missing.length > 1)
    logger.warn(
      { missing: missing.length },
      'seals were missing in the file of seals, and are rewritten from the log: was the file removed, cut or replaced?',
    )
  await file.append(missing.map((seal) => outsideSeal(logIdentity.logId, seal)))
}

/** Signs the present trees and appends the seal to the log. Returns `undefined` when the seals in the log do not end where the trees say. */
async function appendSeal({ engines, trees }: Sealer): Promise<RecordedSeal | undefined> {
  const { log, logIdentity, vault, clock } = engines
  const keys = await openSigningKeys(vault, logIdentity, clock)
  const roots = rootsOf(trees)
  const [size, streams] = [trees.log.size, trees.heads.size]
  const texts = sealTexts(logIdentity, { size, root: roots.log }, { size: streams, root: roots.heads })
  const signatureOf = (text: string) => hexOf(keys.sign(cryptography.utf8(text)))
  const seal = {
    epoch: logIdentity.epoch,
    size,
    root: hexOf(roots.log),
    signature: signatureOf(texts.checkpoint),
    heads: { streams, root: hexOf(roots.heads), signature: signatureOf(texts.heads) },
    keyId: hexOf(keys.verifiers[0]?.keyId ?? new Uint8Array(4)),
  }
  const stream = sealStream(logIdentity.epoch)
  // The end of the stream is taken from the trees, since the last seal in the log may be damaged.
  const head = trees.heads.get(stream) ?? emptyHead
  const appended = await log.append(stream, head, [LogSealed.of(seal)], bySystem('sealer'))
  const [event] = appended.kind === 'appended' ? appended.events : []
  return event && { revision: event.revision, at: event.at, hash: event.meta.hash, seal }
}

/** Reports the state of sealing to metrics and `/readyz`, and logs it when it has changed. */
function report(sealer: Sealer, refusal: string | null, newest: RecordedSeal | undefined): void {
  const { engines, tell } = sealer
  sealer.newest = newest ?? sealer.newest
  const sealedAt = sealer.newest === undefined ? null : Date.parse(sealer.newest.at)
  const state = { sealedAt, refused: refusal !== null }
  engines.emit({ kind: 'sealer', state })
  if (refusal === sealer.refusal) return
  sealer.refusal = refusal
  tell(refusal === null ? [] : [refusal])
  if (refusal === null) engines.logger.warn('the log is sealed again')
  else engines.logger.error({ reason: refusal }, 'the log is not sealed')
}
