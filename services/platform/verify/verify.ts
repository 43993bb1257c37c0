/**
 * Checks a stored log against its format, `docs/log-format.md`: the chain of each stream, the references between streams, encrypted contents against
 * their commitments, blobs, and the whole log against its seals. Without a seal, a change goes unnoticed if all hashes were recomputed.
 */
import { z } from 'zod'
import { eventKinds } from '#domain/events.ts'
import { EventMeta } from '#domain/kernel/event.schema.ts'
import type { DamageReason, Position, StoredEvent } from '#domain/kernel/event.ts'
import {
  logStream,
  parseStream,
  projectStream,
  scopeOfStream,
  taskStream,
  terminalStream,
  userStream,
} from '#domain/kernel/streams.ts'
import { RestoredEpoch } from '#domain/log.ts'
import { TerminalHead } from '#domain/task/events.ts'
import { chainFaultOf, type ChainFault, type Digests } from '#platform/eventlog/chain.ts'
import { contentContext } from '#platform/eventlog/eventLog.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import { intact, isDamaged, type DamagedRecord, type EventStore } from '#platform/ports/eventStore.ts'
import { CannotOpen, KeyMissing } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { hashIn } from '#platform/seals/damagedLeaf.ts'
import { sha256 } from '#platform/hashes.ts'
import { blobChecks, type BlobChecks, type BlobFinding } from './blobs.ts'
import { sealChecks, type SealEvidence, type SealFinding, type SealReport } from './seals.ts'

export type Wrong =
  | ChainFault
  | DamageReason
  | 'envelope'
  | 'unknown_kind'
  | 'facts'
  | 'key_missing'
  | 'content_unreadable'
  | BlobFinding['wrong']
  | 'commitment'
  | 'follows'
  | 'anchor'
  | 'stream_missing'
  | 'log_identity'
  | SealFinding['wrong']

const sentences: Readonly<Record<Wrong, string>> = {
  revision: 'does not come after the one before it: an event was removed, repeated or moved',
  prev: 'does not name the hash of the event before it: that one was changed or replaced',
  hash: 'is not what its hash was taken over: it was changed',
  sealed_content: 'does not have the sealed content that was recorded: its bytes were changed',
  no_json: 'is not JSON: what is stored was damaged',
  repeated_name: 'has a member twice: what is stored was damaged',
  wrong_envelope: 'does not have the form of an event: what is stored was damaged',
  too_large: 'is larger than an event can be: what is stored was damaged',
  envelope: 'does not have the form of an event',
  unknown_kind: 'is of a kind or version that this Flightdeck does not know',
  facts: 'does not have the facts of its kind',
  key_missing: 'has content whose key is missing. It was not erased: that leaves a mark',
  content_unreadable:
    'has content that does not open with its key, and hashes that fit it: the key was replaced, or all of these were rewritten',
  blob_missing: 'names a blob that is not there',
  blob_changed: 'names a blob that was changed',
  commitment: 'has content that is not the one it was committed to',
  follows: 'does not stand where it says in the order of its task: an event was removed or moved',
  anchor: 'names an event of the terminal that is not there: the terminal was cut, or changed',
  stream_missing: 'names a stream that is not there: it was removed',
  log_identity: 'is not the one beginning that a log has',
  sealed_changed: 'is not what was sealed: it was changed',
  sealed_added: 'was not there when the log was sealed: it was added',
  sealed_moved: 'does not stand where it stood when the log was sealed: it was moved',
  sealed_removed: 'was there when the log was sealed: it was removed',
  seal_cut: 'is over more events than the log has: its end was cut',
  seal_broken: 'does not fit the log: what it is over was changed',
  seal_unsigned: 'was not signed by a key of this log, or by one that an older key of it vouches for',
  restore_unsigned:
    'begins another epoch without a signature: whoever could write to the log could say so, and cut off what was newer',
  restore_forged: 'begins another epoch, and was not signed by a key of this log',
  restore_elsewhere: 'was signed for other events than those that are before it',
  seals_file: 'is not in the file of seals as it is in the log',
  seal_missing: 'was written outside, and is not in the log any more: it was removed',
}

export interface Finding {
  readonly stream: string
  /** `null` when the fault is about the whole stream, or when the revision is unknown. */
  readonly revision: number | null
  readonly wrong: Wrong
  readonly sentence: string
}

export interface Verified {
  readonly events: number
  readonly streams: number
  /** The number of events whose content is erased because its key was destroyed. */
  readonly erased: number
  readonly blobs: number
  /** The number of missing or changed blobs that are no fault, because their stream has ended or its key was destroyed. */
  readonly erasedBlobs: number
  readonly findings: readonly Finding[]
  /** The number of findings beyond the listed ones. */
  readonly more: number
  /** The result of checking the seals; `null` when they were not checked. */
  readonly sealing: Omit<SealReport, 'findings'> | null
}

/** Computes digests of events, in order, on a pool of threads or on this thread. */
export type Digest = (events: readonly StoredEvent[]) => Promise<readonly Digests[]>

const page = 2_000
const maxListed = 1_000

/** Checks the whole present log. Events that are appended in the meantime may or may not be included. `onProgress` is called after each page. */
export async function verifyLog(
  {
    eventStore,
    vault,
    blobs,
  }: {
    eventStore: Pick<EventStore, 'readAll' | 'readStream'>
    vault: Pick<Vault, 'open'>
    /** The store whose blobs are checked; without it, no blobs are checked. */
    blobs?: Pick<Blobs, 'check'>
  },
  digest: Digest,
  onProgress: (events: number, position: Position) => void = () => undefined,
  evidence?: SealEvidence,
): Promise<Verified> {
  const checks = logChecks({ eventStore, vault })
  const named = blobs && blobChecks(blobs)
  const seals = evidence && (await sealChecks(eventStore, evidence))
  const read = (after: Position | null) => eventStore.readAll(after, page)
  let events = await read(null)
  for (;;) {
    const last = events.at(-1)
    if (!last) break
    // Reads the next page while the threads hash the present page.
    const [digests, next] = await Promise.all([digest(intact(events)), read(last.position)])
    const known = digests.values()
    for (const record of events) {
      const hash = await hashIn(eventStore, record)
      if (isDamaged(record)) checks.checkDamaged(record, hash)
      else {
        await checks.check(record, nextOf(known))
        await named?.add(record)
      }
      await seals?.add(record, hash)
    }
    onProgress(checks.count(), last.position)
    events = next
  }
  return checks.end(await seals?.end(), named)
}

function nextOf(digests: Iterator<Digests>): Digests {
  const { done, value } = digests.next()
  if (done === true) throw new Error('A digest is missing.')
  return value
}

interface Head {
  readonly revision: number
  readonly meta: Pick<EventMeta, 'hash' | 'follows'>
}

const Envelope = z.strictObject({
  id: z.uuid(),
  stream: z.string().min(1),
  revision: z.int().nonnegative(),
  position: z.string(),
  type: z.string().min(1),
  version: z.int().positive(),
  at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
  content: z.base64().nullable(),
  meta: EventMeta,
})
const Anchor = z.object({ terminal: TerminalHead.nullable() })
const Owners = z.object({ ownerId: z.string(), projectId: z.string().optional() })

interface LogChecks {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly vault: Pick<Vault, 'open'>
  readonly heads: Map<string, Head>
  readonly findings: Finding[]
  /** The number of findings beyond the listed ones. */
  more: number
  count: number
  /** Whether the first record of the log was read. */
  begun: boolean
  erased: number
  readonly erasedScopes: Set<string>
  epoch: number
}

function logChecks(engines: Pick<LogChecks, 'eventStore' | 'vault'>) {
  const checks: LogChecks = {
    ...engines,
    heads: new Map(),
    findings: [],
    more: 0,
    count: 0,
    begun: false,
    erased: 0,
    erasedScopes: new Set(),
    epoch: 1,
  }
  return {
    check: (event: StoredEvent, digests: Digests) => check(checks, event, digests),
    checkDamaged: (record: DamagedRecord, hash: string | undefined) => checkDamaged(checks, record, hash),
    count: () => checks.count,
    end(sealed: SealReport | undefined, named: BlobChecks | undefined): Verified {
      if (checks.count > 0 && !checks.heads.has(logStream)) note(checks, logStream, null, 'stream_missing')
      for (const { stream, revision, wrong, ...said } of sealed?.findings ?? [])
        note(checks, stream, revision, wrong, 'sentence' in said ? said.sentence : undefined)
      const blobs = named?.end(checks.erasedScopes)
      for (const { stream, revision, wrong, sentence } of blobs?.findings ?? [])
        note(checks, stream, revision, wrong, sentence)
      const { count: events, heads, erased, findings, more } = checks
      const counted = { blobs: blobs?.whole ?? 0, erasedBlobs: blobs?.erased ?? 0 }
      const checked = { events, streams: heads.size, erased, ...counted, findings, more }
      if (!sealed) return { ...checked, sealing: null }
      const { findings: _listed, ...sealing } = sealed
      return { ...checked, sealing }
    },
  }
}

function note(checks: LogChecks, stream: string, revision: number | null, wrong: Wrong, said?: string): void {
  const what = revision === null ? stream : `${stream} @ ${revision}`
  const sentence = said ?? `${what} ${sentences[wrong]}.`
  if (checks.findings.length >= maxListed) checks.more += 1
  else checks.findings.push({ stream, revision, wrong, sentence })
}

/** Reports a damaged record. Later records of its stream are still checked, as far as the damaged record's revision and hash are known. */
function checkDamaged(checks: LogChecks, record: DamagedRecord, hash = ''): void {
  checks.count += 1
  if (record.position !== '0') checks.begun = true
  const { stream, revision, damage } = record
  const before = checks.heads.get(stream)
  note(checks, stream, revision < 0 ? null : revision, damage)
  if (revision < 0) return
  const wrong = revision === (before?.revision ?? -1) + 1 ? undefined : 'revision'
  if (wrong) note(checks, stream, revision, wrong)
  checks.heads.set(stream, { revision, meta: { hash, follows: before?.meta.follows ?? null } })
}

async function check(checks: LogChecks, event: StoredEvent, digests: Digests): Promise<void> {
  checks.count += 1
  const { stream, revision } = event
  const wrong = await firstWrong(checks, event, digests)
  if (wrong !== undefined) note(checks, stream, revision, wrong)
  checks.begun = true
  checks.heads.set(stream, { revision, meta: event.meta })
}

async function firstWrong(
  checks: LogChecks,
  event: StoredEvent,
  digests: Digests,
): Promise<Wrong | undefined> {
  if (!Envelope.safeParse(event).success) return 'envelope'
  return (
    chainFaultOf(event, checks.heads.get(event.stream) ?? null, digests) ??
    factsWrong(checks, event) ??
    (await contentWrong(checks, event)) ??
    orderWrong(checks, event) ??
    (await anchorWrong(checks, event)) ??
    referenceWrong(checks, event)
  )
}

function factsWrong(checks: LogChecks, { type, version, data, stream }: StoredEvent): Wrong | undefined {
  const kind = eventKinds.get(type)
  if (!kind || version > kind.version) return 'unknown_kind'
  if (version === kind.version && !kind.data.safeParse(data).success) return 'facts'
  // `LogBegun` must be the first event and occur only once, and each restore must begin a later epoch.
  const isBeginning = !checks.begun && stream === logStream
  if (isBeginning !== (type === 'LogBegun') || (!checks.begun && !isBeginning)) return 'log_identity'
  if (type !== 'LogRestored') return undefined
  const epoch = RestoredEpoch.safeParse(data).data?.epoch ?? 0
  if (stream !== logStream || epoch <= checks.epoch) return 'log_identity'
  checks.epoch = epoch
  return undefined
}

async function contentWrong(
  checks: LogChecks,
  { stream, id, content, meta }: StoredEvent,
): Promise<Wrong | undefined> {
  if (content === null || meta.content === null) return undefined
  try {
    const plain = await checks.vault.open(
      scopeOfStream(stream),
      contentContext(stream, id),
      Buffer.from(content, 'base64'),
    )
    if (plain === undefined) {
      checks.erased += 1
      checks.erasedScopes.add(scopeOfStream(stream))
    } else if (sha256(plain) !== meta.content.commitment) return 'commitment'
    return undefined
  } catch (fault) {
    if (fault instanceof KeyMissing) return 'key_missing'
    if (fault instanceof CannotOpen) return 'content_unreadable'
    throw fault
  }
}

/**
 * Finds wrong references between the two streams of a task: each event of the terminal must name, in order, the task's event that it follows, and no
 * other event may name one.
 */
function orderWrong(checks: LogChecks, { stream, meta }: StoredEvent): Wrong | undefined {
  const name = parseStream(stream)
  if (name.kind !== 'terminal') return meta.follows === null ? undefined : 'follows'
  if (meta.follows === null) return 'follows'
  const task = checks.heads.get(taskStream(name.id))
  if (!task) return 'stream_missing'
  const before = checks.heads.get(stream)?.meta.follows ?? 0
  return meta.follows >= before && meta.follows <= task.revision ? undefined : 'follows'
}

/** An execution's end names the last event of the terminal. Checks that this event exists unchanged. */
async function anchorWrong(checks: LogChecks, { stream, data }: StoredEvent): Promise<Wrong | undefined> {
  const name = parseStream(stream)
  const anchor = name.kind === 'task' ? Anchor.safeParse(data).data?.terminal : undefined
  if (name.kind !== 'task' || !anchor) return undefined
  const terminal = terminalStream(name.id)
  const head = checks.heads.get(terminal)
  if (!head || head.revision < anchor.revision) return 'anchor'
  if (head.revision === anchor.revision) return head.meta.hash === anchor.hash ? undefined : 'anchor'
  const { revision: from } = anchor
  const [named] = await checks.eventStore.readStream(terminal, { from, direction: 'forwards', limit: 1 })
  // A damaged record is reported separately.
  if (named && isDamaged(named)) return undefined
  return named?.meta.hash === anchor.hash ? undefined : 'anchor'
}

/** Finds a task or project that begins before the first event of its owner or, for a task, of its project. */
function referenceWrong(checks: LogChecks, { type, data }: StoredEvent): Wrong | undefined {
  const owners = type === 'TaskCreated' || type === 'ProjectCreated' ? Owners.safeParse(data).data : undefined
  const named = [
    ...(owners ? [userStream(owners.ownerId)] : []),
    ...(owners?.projectId !== undefined && type === 'TaskCreated' ? [projectStream(owners.projectId)] : []),
  ]
  return named.every((stream) => checks.heads.has(stream)) ? undefined : 'stream_missing'
}
