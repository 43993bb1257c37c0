/** The audit bundle of a task, made from the stored log and the newest seal. */
import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '#domain/kernel/errors.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { scopeOfStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { BundledContent, Envelope } from '#domain/proof/auditBundle.schema.ts'
import { withheldAs, type ContentCategory } from '#domain/proof/auditBundle.ts'
import { contentCategories } from '#domain/proof/auditBundle.ts'
import { writeInclusionProof } from '#domain/proof/checkpoint.ts'
import { verifyInclusion, leafHash, type Hash } from '#domain/proof/merkleTree.ts'
import { bytesOfHex, hexOf, leafOf } from '#domain/proof/bundleHashes.ts'
import { headLeaf, notesOf, type SealNotes } from '#domain/proof/sealNotes.ts'
import { writeBundle, type BundledEvent, type EventProofs } from '#domain/proof/writeBundle.ts'
import type { Engines } from '#platform/compose.ts'
import { contentContext, unreadableSentences } from '#platform/eventlog/eventLog.ts'
import { isErased } from '#platform/eventlog/sealedBlobs.ts'
import { isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { CannotOpen } from '#platform/ports/faults.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { readableSeal, type RecordedSeal } from '#platform/seals/newestSeal.ts'
import { storedInclusion } from '#platform/seals/storedProofs.ts'
import { sealCollections, sealHeads, StreamHead, type TreeName } from '#platform/seals/sealTrees.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { earlierSeals } from './earlierSeals.ts'

export interface AuditSources extends Pick<Engines, 'readStore' | 'vault' | 'blobs' | 'logIdentity'> {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly rpc: Pick<Rpc, 'call'>
}

export interface AuditRequest {
  readonly taskId: string
  /** Whether the task was deleted, in which case its content is left out. */
  readonly isDeleted: boolean
  readonly withheld: readonly ContentCategory[]
  /** Sizes of the log's tree for which proofs are requested, in addition to those of the newest seals. */
  readonly sizes: readonly number[]
}

const sealTimeoutMs = 10_000
const attempts = 4
const betweenAttemptsMs = 250
const page = 250

/**
 * The lines of the bundle, each with its newline. Throws before the first line: `not_sealed` when nothing proves the task's history, `record_damaged`
 * when a record of it is no longer an event.
 */
export async function taskAudit(
  sources: AuditSources,
  { taskId, isDeleted, withheld: wanted, sizes }: AuditRequest,
): Promise<AsyncGenerator<string>> {
  const { vault, logIdentity, blobs } = sources
  // Until its key is destroyed, the content of a deleted task could still be decrypted, so it is hidden.
  const isToHide = isDeleted && !(await isErased(vault, scopeOfStream(taskStream(taskId))))
  const withheld = isToHide ? contentCategories : wanted
  const proven = await provenHeads(sources, [taskStream(taskId), terminalStream(taskId)])
  const keys = await signingKeys(vault, logIdentity)
  if (keys === undefined) throw new Fault('not_sealed')
  await requireIntact(sources, proven.heads)
  const seals = await earlierSeals(sources, proven.seal, sizes)
  return inLines(
    writeBundle(
      {
        ...logIdentity,
        taskId,
        keys: keys.vkeys,
        links: keys.links,
        checkpoint: proven.notes.checkpoint,
        headsCheckpoint: proven.notes.heads,
        withheld,
        events: events(sources, proven.heads, withheld),
        proofsOf: ({ stream, revision }) => {
          const head = proven.heads.get(stream)
          return head?.revision === revision ? head.proofs : {}
        },
        stateOf: (hash, stream) => blobs.stateOf(scopeOfStream(stream), { hash }),
        seals,
        sign: keys.sign,
      },
      cryptography,
    ),
  )
}

/** Checks all records first, because a bundle that has begun can only be aborted. */
async function requireIntact(sources: AuditSources, heads: Proven['heads']): Promise<void> {
  for await (const record of records(sources, heads))
    if (isDamaged(record)) {
      const { stream, revision, damage } = record
      throw new Fault(
        'record_damaged',
        `Event ${revision} of ${stream} ${unreadableSentences[damage]}. Ask the operator of this server to repair it.`,
      )
    }
}

async function* inLines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

interface ProvenHead {
  readonly revision: number
  readonly hash: string
  readonly proofs: EventProofs
}
interface Proven {
  readonly seal: RecordedSeal
  readonly notes: SealNotes
  /** The streams' last events, in the order in which the streams are written. */
  readonly heads: ReadonlyMap<string, ProvenHead>
}

/** A seal over both streams, with proofs for their last events. The trees may grow in the meantime, in which case it is tried again. */
async function provenHeads(sources: AuditSources, streams: readonly string[]): Promise<Proven> {
  const { rpc, readStore, eventStore, logIdentity } = sources
  await readStore.prepare(sealCollections)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await rpc.call('seal', {}, sealTimeoutMs)
    const seal = await readableSeal(eventStore, logIdentity)
    const proven = seal && (await proveHeads(sources, seal, streams))
    if (proven) return proven
    await pause(betweenAttemptsMs)
  }
  throw new Fault('not_sealed')
}

/** The last events of the streams under a seal, with proofs; `undefined` when the trees have grown beyond the seal. */
export async function proveHeads(
  { readStore, logIdentity }: AuditSources,
  recorded: RecordedSeal,
  streams: readonly string[],
): Promise<Proven | undefined> {
  const { seal } = recorded
  const notes = notesOf(logIdentity.logId, seal)
  const documents = await readStore.getMany(sealHeads.name, streams)
  const heads = new Map<string, ProvenHead>()
  for (const stream of streams) {
    const document = documents.get(stream)
    // A task that never ran has no terminal stream.
    if (document === undefined) continue
    const head = StreamHead.parse(document)
    const { revision, hash, ordinal } = head
    const leaf = headLeaf(cryptography, { stream, revision, hash })
    const [inLog, atEnd] = await Promise.all([
      proofInLog(readStore, head, { seal, note: notes.checkpoint }),
      proofOf(readStore, 'heads', {
        index: ordinal,
        size: seal.heads.streams,
        root: seal.heads.root,
        leaf,
        note: notes.heads,
      }),
    ])
    if (inLog === undefined || atEnd === undefined) return undefined
    heads.set(stream, { revision, hash, proofs: { inLog, atEnd } })
  }
  return heads.size === 0 ? undefined : { seal: recorded, notes, heads }
}

/**
 * The last event of a stream in the trees, if it is proven to be under a seal; `undefined` otherwise. That can be proven even after the trees have
 * grown, since each seal's tree is the beginning of the log's tree.
 */
export async function endUnder(
  { readStore, logIdentity }: Pick<AuditSources, 'readStore' | 'logIdentity'>,
  { seal }: RecordedSeal,
  stream: string,
): Promise<Pick<StreamHead, 'revision' | 'hash'> | undefined> {
  const document = (await readStore.getMany(sealHeads.name, [stream])).get(stream)
  if (document === undefined) return undefined
  const head = StreamHead.parse(document)
  const note = notesOf(logIdentity.logId, seal).checkpoint
  return (await proofInLog(readStore, head, { seal, note })) === undefined ? undefined : head
}

const proofInLog = (
  readStore: AuditSources['readStore'],
  { index, hash }: StreamHead,
  { seal: { size, root }, note }: { readonly seal: RecordedSeal['seal']; readonly note: string },
) => proofOf(readStore, 'log', { index, size, root, leaf: leafOf(hash), note })

interface Proving {
  readonly index: number
  readonly size: number
  /** The root of the log's tree, in hex. */
  readonly root: string
  readonly leaf: Uint8Array
  readonly note: string
}

/** `undefined` when the stored tree is not, or no longer, the one that was sealed. */
async function proofOf(
  readStore: AuditSources['readStore'],
  tree: TreeName,
  { index, size, root, leaf, note }: Proving,
): Promise<string | undefined> {
  if (index >= size) return undefined
  const proof: readonly Hash[] | undefined = await storedInclusion(readStore, tree, index, size)
  const { sha256 } = cryptography
  const isProven =
    proof !== undefined &&
    verifyInclusion(sha256, { leaf: leafHash(sha256, leaf), index, size, proof, root: bytesOfHex(root) })
  return isProven ? writeInclusionProof({ index, proof, note }) : undefined
}

/** Both streams up to their proven last events, as the log has them, readable or not. */
async function* events(
  sources: AuditSources,
  heads: Proven['heads'],
  withheld: readonly ContentCategory[],
): AsyncGenerator<BundledEvent> {
  for await (const event of records(sources, heads)) {
    if (isDamaged(event)) throw new Fault('record_damaged')
    yield { event: envelopeOf(event), content: await contentOf(sources, event, withheld) }
  }
}

async function* records(
  { eventStore }: Pick<AuditSources, 'eventStore'>,
  heads: Proven['heads'],
): AsyncGenerator<LogRecord> {
  for (const [stream, { revision: last }] of heads) {
    for (let from = 0; from <= last;) {
      const limit = Math.min(page, last - from + 1)
      const found = await eventStore.readStream(stream, { from, direction: 'forwards', limit })
      yield* found.filter(({ revision }) => revision <= last)
      // Events that the log has lost leave a gap, which is visible in the bundle.
      from = (found.at(-1)?.revision ?? last) + 1
    }
  }
}

function envelopeOf({ position: _position, content: _content, ...envelope }: StoredEvent): Envelope {
  return envelope
}

async function contentOf(
  { vault }: AuditSources,
  { stream, id, type, content, meta }: StoredEvent,
  withheld: readonly ContentCategory[],
): Promise<BundledContent> {
  if (meta.content === null) return { kind: 'none' }
  const category = withheldAs(type, withheld)
  if (category !== undefined) return { kind: 'withheld', category }
  const sealed = Buffer.from(content ?? '', 'base64')
  if (hexOf(cryptography.sha256(sealed)) !== meta.content.sealed) return { kind: 'changed' }
  const plain = await opened(vault, stream, id, sealed)
  if (plain === 'missing_key' || plain === 'erased') return { kind: plain }
  const text = cryptography.text(plain)
  const isRecorded = hexOf(cryptography.sha256(plain)) === meta.content.commitment
  return text !== undefined && isRecorded ? { kind: 'disclosed', text } : { kind: 'changed' }
}

/** The plaintext of the recorded ciphertext. If it cannot be decrypted, its key was destroyed (`erased`) or is missing (`missing_key`). */
async function opened(
  vault: AuditSources['vault'],
  stream: string,
  id: string,
  sealed: Uint8Array,
): Promise<Uint8Array | 'missing_key' | 'erased'> {
  try {
    return (await vault.open(scopeOfStream(stream), contentContext(stream, id), sealed)) ?? 'erased'
  } catch (fault) {
    if (fault instanceof CannotOpen) return 'missing_key'
    throw fault
  }
}
