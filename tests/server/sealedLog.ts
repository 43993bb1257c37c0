/** The stored log of a real run, sealed by the sealer as it grew, and checks of how well changes to it are found. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { digestsOf, type Digests } from '#platform/eventlog/chain.ts'
import { sha256 } from '#platform/hashes.ts'
import { sealsFile, type SealLine } from '#platform/seals/sealsFile.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import type { SealEvidence } from '#platform/verify/seals.ts'
import { verifyLog, type Digest, type Verified } from '#platform/verify/verify.ts'
import { LogBegun } from '#domain/log.ts'
import { CannotOpen } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { startSealer } from '../../services/maintenance/sealer.ts'
import { openTestEngines, type TestEngines } from './engines.ts'
import { readFrozenLog } from './frozenLog.ts'
import {
  foundTamperings,
  pickFrom,
  sealOnlyTamperings,
  storeOf,
  tamperedWith,
  type Tampering,
} from './tampering.ts'
import { intact } from '#platform/ports/eventStore.ts'

export interface SealedLog {
  readonly engines: TestEngines
  /** The log with its seals, as it is stored. */
  readonly log: readonly StoredEvent[]
  readonly evidence: SealEvidence
  verify(log: readonly StoredEvent[], evidence?: SealEvidence): Promise<Verified>
  close(): Promise<void>
}

/** An event that was not changed is the same object, so its digests and its text are computed only once. */
const digests = new WeakMap<StoredEvent, Digests>()
const texts = new WeakMap<StoredEvent, string>()
function once<T>(known: WeakMap<StoredEvent, T>, of: (event: StoredEvent) => T): (event: StoredEvent) => T {
  return (event) => {
    const found = known.get(event) ?? of(event)
    known.set(event, found)
    return found
  }
}
const here: Digest = async (events) => events.map(once(digests, digestsOf))
const textOf = once(texts, ({ position: _position, ...event }) => JSON.stringify(event))
const portions = 4

export async function openSealedLog(): Promise<SealedLog> {
  const { events, contents } = await readFrozenLog('v1')
  const engines = await openTestEngines()
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-sealed-'))
  const file = join(folder, 'seals.ndjson')
  const [begun] = events
  const identity = { logId: LogBegun.data.parse(begun?.data).logId, epoch: 1 }
  const rpc = openInProcessRpc({ onFault: () => undefined })
  const sealer = await startSealer(
    { ...engines, rpc, logIdentity: identity },
    { intervalMs: 3_600_000, file, tell: () => undefined },
  )
  const size = Math.ceil(events.length / portions)
  for (let from = 0; from < events.length; from += size) {
    for (const { position: _position, ...event } of events.slice(from, from + size))
      await engines.eventStore.append(event.stream, event.revision - 1, [event])
    if ((await rpc.call('seal', {}, 10_000)) === undefined) throw new Error('The log was not sealed.')
  }
  await sealer.stop()
  const vault = vaultOf(events, contents)
  const outside: SealLine[] = []
  for await (const line of sealsFile(file).all()) outside.push(line)
  const keys = await signingKeys(engines.vault, identity)
  const evidence: SealEvidence = {
    identity,
    readStore: engines.readStore,
    keysOf: async () => keys?.verifiers ?? [],
    async *outside() {
      yield* outside
    },
  }
  return {
    engines,
    log: intact(await engines.eventStore.readAll(null, 10_000)),
    evidence,
    verify: (log, known = evidence) =>
      verifyLog({ eventStore: storeOf(log), vault }, here, () => undefined, known),
    close: async () => {
      await engines.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A vault that opens the contents of a log from their stored plaintext. */
function vaultOf(events: readonly StoredEvent[], contents: ReadonlyMap<string, string>): Pick<Vault, 'open'> {
  const sealed = new Map(events.map(({ id, meta }) => [id, meta.content?.sealed]))
  return {
    open: async (_scope, context, bytes) => {
      const id = context.slice(context.indexOf('#') + 1)
      const plain = contents.get(id)
      // As with real encryption, content that was changed does not open.
      if (plain !== undefined && sha256(bytes) !== sealed.get(id)) throw new CannotOpen('It was changed.')
      return plain === undefined ? undefined : new Uint8Array(Buffer.from(plain))
    },
  }
}

/** Makes this many changes of each kind to the stored log of a real run that has no seals, and searches for each. */
export async function tryUnsealedChanges(times: number): ReturnType<typeof tamperedWith> {
  const { events, contents } = await readFrozenLog('v1')
  return tamperedWith(events, vaultOf(events, contents), { tamperings: foundTamperings, times, seed: 18 })
}

const placeOf = ({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>) => `${stream}@${revision}`

/** The records that a change affected: those that differ, are gone or new, or are in another order. */
function touched(before: readonly StoredEvent[], after: readonly StoredEvent[]): ReadonlySet<string> {
  const placesByText = (log: readonly StoredEvent[]) =>
    new Map(log.map((event) => [textOf(event), placeOf(event)]))
  const [was, is] = [placesByText(before), placesByText(after)]
  const places = new Set<string>()
  for (const [text, place] of was) if (!is.has(text)) places.add(place)
  for (const [text, place] of is) if (!was.has(text)) places.add(place)
  const [order, now] = [
    [...was.keys()].filter((text) => is.has(text)),
    [...is.keys()].filter((text) => was.has(text)),
  ]
  for (const [index, text] of order.entries())
    if (now[index] !== text) places.add(was.get(text) ?? '').add(is.get(now[index] ?? '') ?? '')
  const seen = new Set<string>()
  for (const event of after) {
    if (seen.has(placeOf(event))) places.add(placeOf(event))
    seen.add(placeOf(event))
  }
  return places
}

export interface Tried {
  readonly tried: number
  /** How many changes of each kind were found at the right record. */
  readonly found: Readonly<Record<string, number>>
  /** Changes that were not found, or not at the right record: how each was made, and what was reported. */
  readonly missed: readonly string[]
}

/** Makes this many random changes of the log, taking the kinds in turn, and searches for each. */
export async function tryChanges(
  { log, verify }: SealedLog,
  { tamperings, times, seed }: { tamperings: readonly Tampering[]; times: number; seed: number },
): Promise<Tried> {
  const pick = pickFrom(seed)
  const missed: string[] = []
  const found: Record<string, number> = {}
  let tried = 0
  for (let turn = 0; tried < times; turn += 1) {
    if (turn > times * 20) throw new Error('There is too little in the log to try this on.')
    const tampering = tamperings[turn % tamperings.length]
    const changed = tampering?.apply(log, pick)
    if (!tampering || !changed) continue
    const expected = touched(log, changed)
    if (expected.size === 0) continue
    tried += 1
    const { findings } = await verify(changed)
    const named = findings.map(({ stream, revision }) =>
      revision === null ? stream : placeOf({ stream, revision }),
    )
    if (named.some((place) => expected.has(place))) found[tampering.kind] = (found[tampering.kind] ?? 0) + 1
    else
      missed.push(
        `${tampering.kind}: ${[...expected].slice(0, 3).join()} [${findings.map(({ sentence }) => sentence).join(' ')}]`,
      )
  }
  return { tried, found, missed }
}

const appended = 'a forgery appended with a right hash'

/** A forgery among sealed events that only a seal can reveal. A forgery after the last seal cannot be found. */
const forgedAmongSealed: Tampering = {
  kind: 'a forgery with a right hash put in before the last seal',
  apply: (log, pick) => {
    const forged = sealOnlyTamperings
      .find(({ kind }) => kind === appended)
      ?.apply(log, pick)
      ?.at(-1)
    const from = log.findLastIndex(({ stream }) => stream === forged?.stream) + 1
    const to = log.findLastIndex(({ type }) => type === 'LogSealed')
    return forged && from < to ? log.toSpliced(from + pick(to - from), 0, forged) : undefined
  },
}

/** The log with another `LogRestored` event, with a correct hash: anybody who can write to the database can add one. */
export function withRestore(log: readonly StoredEvent[], data: unknown, version = 1): readonly StoredEvent[] {
  const before = log.findLast(({ stream }) => stream === 'log-main')
  if (!before) throw new Error('The log has no beginning.')
  const event = {
    ...before,
    id: randomUUID(),
    revision: before.revision + 1,
    type: 'LogRestored',
    version,
    data,
    meta: { ...before.meta, prev: before.meta.hash },
  }
  return [...log, { ...event, meta: { ...event.meta, hash: digestsOf(event).hash } }]
}

/** Cuts the end of the log at a random place, and adds a restore that claims to explain it. */
const hiddenByRestore = (kind: string, version: number, tree: object): Tampering => ({
  kind,
  apply: (log, pick) => withRestore(log.slice(0, 1 + pick(log.length - 1)), { epoch: 2, ...tree }, version),
})
const madeUpTree = { size: 1, root: '0'.repeat(64), signature: '0'.repeat(128), keyId: '0'.repeat(8) }

/** Changes before the last seal that only a seal can reveal. */
export const sealedOnlyTamperings: readonly Tampering[] = [
  ...sealOnlyTamperings.filter(({ kind }) => kind !== appended),
  forgedAmongSealed,
  hiddenByRestore('the end cut, and explained by a restore of version 1', 1, {}),
  hiddenByRestore('the end cut, and explained by a restore without a signature', 2, { tree: null }),
  hiddenByRestore('the end cut, and explained by a restore with a made-up signature', 2, {
    tree: madeUpTree,
  }),
]
export const allTamperings: readonly Tampering[] = [...foundTamperings, ...sealedOnlyTamperings]
