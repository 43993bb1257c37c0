/** The audit bundle of a task, made of the log as it is stored and of the newest seal. */
import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '#domain/kernel/errors.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { scopeOfStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import type { BundledContent, Envelope } from '#domain/proof/auditBundle.schema.ts'
import { withheldAs, type ContentCategory } from '#domain/proof/auditBundle.ts'
import { writeInclusionProof } from '#domain/proof/checkpoint.ts'
import { verifyInclusion, leafHash, type Hash } from '#domain/proof/merkleTree.ts'
import { bytesOfHex, leafOf } from '#domain/proof/bundleHashes.ts'
import { headLeaf, notesOf, type SealNotes } from '#domain/proof/sealNotes.ts'
import { writeBundle, type BundledEvent, type EventProofs } from '#domain/proof/writeBundle.ts'
import type { Seal } from '#domain/seal.ts'
import { contentContext } from '#platform/eventlog/eventLog.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { CannotOpen } from '#platform/ports/faults.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { newestSeal } from '#platform/seals/newestSeal.ts'
import { storedInclusion } from '#platform/seals/storedProofs.ts'
import { sealCollections, sealHeads, StreamHead, type TreeName } from '#platform/seals/sealTrees.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'

export interface AuditSources {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly readStore: Pick<ReadStore, 'prepare' | 'getMany'>
  readonly vault: Pick<Vault, 'open' | 'getSecret'>
  readonly rpc: Pick<Rpc, 'ask'>
  readonly logIdentity: LogIdentity
}

const sealedWithinMs = 10_000
const attempts = 4
const betweenAttemptsMs = 250
const page = 250

/** The lines of the bundle, each with its newline. Throws `not_sealed` before the first when nothing proves the task's history. */
export async function taskAudit(
  sources: AuditSources,
  taskId: string,
  withheld: readonly ContentCategory[],
): Promise<AsyncGenerator<string>> {
  const { vault, logIdentity } = sources
  const proven = await provenHeads(sources, [taskStream(taskId), terminalStream(taskId)])
  const keys = await signingKeys(vault, logIdentity)
  if (keys === undefined) throw new Fault('not_sealed')
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
        sign: keys.sign,
      },
      cryptography,
    ),
  )
}

async function* inLines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

interface ProvenHead {
  readonly revision: number
  readonly proofs: EventProofs
}
interface Proven {
  readonly notes: SealNotes
  /** By stream, in the order in which they are written. */
  readonly heads: ReadonlyMap<string, ProvenHead>
}

/** A seal over both streams, and the proofs of where they end. The trees may grow meanwhile: then it is looked again. */
async function provenHeads(sources: AuditSources, streams: readonly string[]): Promise<Proven> {
  const { rpc, readStore, eventStore, logIdentity } = sources
  await readStore.prepare(sealCollections)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await rpc.ask('seal', {}, sealedWithinMs)
    const seal = await newestSeal(eventStore, logIdentity)
    const proven = seal && (await headsUnder(sources, seal.seal, streams))
    if (proven) return proven
    await pause(betweenAttemptsMs)
  }
  throw new Fault('not_sealed')
}

async function headsUnder(
  { readStore, logIdentity }: AuditSources,
  seal: Seal,
  streams: readonly string[],
): Promise<Proven | undefined> {
  const notes = notesOf(logIdentity.logId, seal)
  const documents = await readStore.getMany(sealHeads.name, streams)
  const heads = new Map<string, ProvenHead>()
  for (const stream of streams) {
    const document = documents.get(stream)
    // A task that never ran has no terminal.
    if (document === undefined) continue
    const head = StreamHead.parse(document)
    const { revision, hash, index, ordinal } = head
    const leaf = headLeaf(cryptography, { stream, revision, hash })
    const [inLog, atEnd] = await Promise.all([
      proofOf(readStore, 'log', {
        index,
        size: seal.size,
        root: seal.root,
        leaf: leafOf(hash),
        note: notes.checkpoint,
      }),
      proofOf(readStore, 'heads', {
        index: ordinal,
        size: seal.heads.streams,
        root: seal.heads.root,
        leaf,
        note: notes.heads,
      }),
    ])
    if (inLog === undefined || atEnd === undefined) return undefined
    heads.set(stream, { revision, proofs: { inLog, atEnd } })
  }
  return heads.size === 0 ? undefined : { notes, heads }
}

interface Proving {
  readonly index: number
  readonly size: number
  /** In hex. */
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

/** Both streams up to where they are proven to end, as the log has them, whatever can be made of them. */
async function* events(
  sources: AuditSources,
  heads: Proven['heads'],
  withheld: readonly ContentCategory[],
): AsyncGenerator<BundledEvent> {
  for (const [stream, { revision: last }] of heads) {
    for (let from = 0; from <= last;) {
      const limit = Math.min(page, last - from + 1)
      const found = await sources.eventStore.readStream(stream, { from, direction: 'forwards', limit })
      for (const event of found) {
        if (event.revision > last) break
        yield { event: envelopeOf(event), content: await contentOf(sources, event, withheld) }
      }
      // Events that the log has lost leave a gap, which the bundle shows.
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
  if (content === null) return { kind: 'unreadable' }
  try {
    const sealed = Buffer.from(content, 'base64')
    const plain = await vault.open(scopeOfStream(stream), contentContext(stream, id), sealed)
    return plain === undefined
      ? { kind: 'erased' }
      : { kind: 'disclosed', text: Buffer.from(plain).toString('utf8') }
  } catch (fault) {
    if (fault instanceof CannotOpen) return { kind: 'unreadable' }
    throw fault
  }
}
