/** The last events of a task's streams, with proofs that a seal covers them. */
import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '#domain/kernel/errors.ts'
import { bytesOfHex, leafOf } from '#domain/proof/bundleHashes.ts'
import { writeInclusionProof } from '#domain/proof/checkpoint.ts'
import { verifyInclusion, leafHash, type Hash } from '#domain/proof/merkleTree.ts'
import { headLeaf, notesOf, type SealNotes } from '#domain/proof/sealNotes.ts'
import type { EventProofs } from '#domain/proof/writeBundle.ts'
import type { Engines } from '#platform/compose.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { readableSeal, type RecordedSeal } from '#platform/seals/recordedSeals.ts'
import { storedInclusion } from '#platform/seals/storedProofs.ts'
import { sealCollections, sealHeads, StreamHead, type TreeName } from '#platform/seals/sealTrees.ts'

export interface HeadSources extends Pick<Engines, 'readStore' | 'logIdentity'> {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly rpc: Pick<Rpc, 'call'>
}

const sealTimeoutMs = 10_000
const attempts = 4
const betweenAttemptsMs = 250

interface ProvenHead {
  readonly revision: number
  readonly hash: string
  readonly proofs: EventProofs
}
export interface Proven {
  readonly seal: RecordedSeal
  readonly notes: SealNotes
  /** The last event of each stream, in the order in which the bundle has the streams. */
  readonly heads: ReadonlyMap<string, ProvenHead>
}

/**
 * A seal that covers the streams as they are now, with proofs for their last events. If the log grows meanwhile, another seal is made, at most a few
 * times. Throws `not_sealed`.
 */
export async function provenHeads(sources: HeadSources, streams: readonly string[]): Promise<Proven> {
  const { rpc, readStore, eventStore, logIdentity } = sources
  await readStore.prepare(sealCollections)
  // While nobody answers, the newest seal may be older than the last events.
  const lengths = await Promise.all(streams.map((stream) => lengthOf(sources, stream)))
  const atLeast = new Map(streams.map((stream, index) => [stream, lengths[index] ?? 0]))
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await rpc.call('seal', {}, sealTimeoutMs)
    const seal = await readableSeal(eventStore, logIdentity)
    const proven = seal && (await proveHeads(sources, seal, atLeast))
    if (proven) return proven
    await pause(betweenAttemptsMs)
  }
  throw new Fault('not_sealed')
}

/** How many events a stream has, according to its last event. */
export async function lengthOf(
  { eventStore }: Pick<HeadSources, 'eventStore'>,
  stream: string,
): Promise<number> {
  const [last] = await eventStore.readStream(stream, { from: 'end', direction: 'backwards', limit: 1 })
  return (last?.revision ?? -1) + 1
}

/**
 * The last events of the streams, with proofs that the seal covers them; `undefined` without such proofs, as when the log has grown since, or when
 * the seal covers fewer events of a stream than `atLeast` says.
 */
async function proveHeads(
  { readStore, logIdentity }: HeadSources,
  recorded: RecordedSeal,
  atLeast: ReadonlyMap<string, number>,
): Promise<Proven | undefined> {
  const { seal } = recorded
  const notes = notesOf(logIdentity.logId, seal)
  const documents = await readStore.getMany(sealHeads.name, [...atLeast.keys()])
  const heads = new Map<string, ProvenHead>()
  for (const [stream, length] of atLeast) {
    const document = documents.get(stream)
    // The terminal of a task that never ran has no events.
    if (document === undefined && length === 0) continue
    if (document === undefined) return undefined
    const head = StreamHead.parse(document)
    if (head.revision + 1 < length) return undefined
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
 * The last event of a stream, if the seal provably covers it; `undefined` otherwise. The log may have grown since the seal, because a seal's tree
 * stays the beginning of the log's tree.
 */
export async function endUnder(
  { readStore, logIdentity }: Pick<HeadSources, 'readStore' | 'logIdentity'>,
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
  readStore: HeadSources['readStore'],
  { index, hash }: StreamHead,
  { seal: { size, root }, note }: { readonly seal: RecordedSeal['seal']; readonly note: string },
) => proofOf(readStore, 'log', { index, size, root, leaf: leafOf(hash), note })

interface Proving {
  readonly index: number
  readonly size: number
  /** The root of the sealed tree, in hex. */
  readonly root: string
  readonly leaf: Uint8Array
  readonly note: string
}

/** The proof that a leaf is in a sealed tree, as text; `undefined` when the stored tree does not prove it. */
async function proofOf(
  readStore: HeadSources['readStore'],
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
