/** Audit bundles of the task in the stored log of version 1, with everything that proves them. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { StoredEventShape } from './storedEvents.ts'
import { type BundledContent, type Envelope } from '../../domain/proof/auditBundle.schema.ts'
import { withheldAs, type BlobState, type ContentCategory } from '../../domain/proof/auditBundle.ts'
import { leafOf, originOf } from '../../domain/proof/bundleHashes.ts'
import {
  checkpointText,
  verifierKey,
  writeInclusionProof,
  writeNote,
  writeVerifierKey,
} from '../../domain/proof/checkpoint.ts'
import {
  append,
  combine,
  consistencyPath,
  emptyFrontier,
  inclusionPath,
  leafHash,
  rootOf,
  type Frontier,
  type Hash,
} from '../../domain/proof/merkleTree.ts'
import { toBase64 } from '../../domain/kernel/base64.ts'
import { headLeaf, headsOriginOf } from '../../domain/proof/sealNotes.ts'
import { writeBundle } from '../../domain/proof/writeBundle.ts'
import { cryptography, rawPublicKey } from '../../services/platform/seals/cryptography.ts'

const { sha256 } = cryptography

/** An Ed25519 key that is always the same, so that a bundle is always the same too. */
export function signingKey(name: string, seed: number) {
  const pkcs8 = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.alloc(32, seed),
  ])
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const verifier = verifierKey(sha256, name, rawPublicKey(createPublicKey(privateKey)))
  return {
    verifier,
    vkey: writeVerifierKey(verifier),
    sign: (message: Uint8Array) => new Uint8Array(sign(null, message, privateKey)),
  }
}

const linesOf = (name: string) =>
  readFileSync(new URL(`../data/log/v1/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
const events = linesOf('events.ndjson').map((line) => StoredEventShape.parse(JSON.parse(line)))
const Content = z.object({ id: z.string(), plaintext: z.string() })
const contents = new Map(
  linesOf('contents.ndjson').map((line) => {
    const { id, plaintext } = Content.parse(JSON.parse(line))
    return [id, plaintext]
  }),
)

export interface BundleWish {
  readonly withheld?: readonly ContentCategory[]
  readonly isErased?: boolean
  /** The events of the log; those of the stored log when left out. */
  readonly all?: readonly Envelope[]
  readonly seed?: number
  /** How many events of the log the bundle covers; all of them when left out. */
  readonly size?: number
  /** The sizes at which the log was sealed before; the bundle lists all those seals. */
  readonly sealedAt?: readonly number[]
  /** The log size from which on seals are listed. */
  readonly sealsFrom?: number
  readonly asked?: readonly number[]
  /** What has happened to an event's content, when it is not the stored content. */
  readonly contentOf?: (event: Envelope) => BundledContent | undefined
  readonly blobState?: BlobState
  readonly links?: readonly string[]
  /** Keys in addition to the one that signs. */
  readonly olderKeys?: readonly string[]
}

/** The plaintext of a content of the stored log. */
export const plaintextOf = (id: string): string => contents.get(id) ?? ''

export const keptEnvelopes: readonly Envelope[] = events.map(
  ({ position: _position, content: _content, ...event }) => event,
)

/** A Merkle tree over leaves, with a proof for each of them. */
function treeOver(leaves: readonly Uint8Array[]) {
  const nodes = new Map<string, Hash>()
  const frontier = leaves.reduce<Frontier>(
    (grown, leaf) =>
      append(sha256, grown, leafHash(sha256, leaf), ({ level, index }, hash) =>
        nodes.set(`${level}/${index}`, hash),
      ),
    emptyFrontier,
  )
  const hashOf = ({ level, index }: { level: number; index: number }) =>
    nodes.get(`${level}/${index}`) ?? new Uint8Array(32)
  const combined = (path: ReturnType<typeof inclusionPath>) =>
    path.map((part) => combine(sha256, part.map(hashOf)))
  return {
    size: leaves.length,
    root: rootOf(sha256, frontier),
    consistencyFrom: (older: number) => combined(consistencyPath(older, leaves.length)),
    proofOf: (index: number, note: string) =>
      writeInclusionProof({
        index,
        proof: combined(inclusionPath(index, leaves.length)),
        note,
      }),
  }
}

/** The lines of a bundle for the stored log's task, sealed like the whole log. */
export async function bundleOf({
  withheld = [],
  isErased = false,
  all: whole = keptEnvelopes,
  seed = 7,
  size = whole.length,
  sealedAt = [],
  sealsFrom = 0,
  asked = [],
  contentOf: otherContent = () => undefined,
  blobState = 'kept',
  links = [],
  olderKeys = [],
}: BundleWish = {}): Promise<readonly string[]> {
  const all = whole.slice(0, size)
  const { logId } = z.object({ logId: z.string() }).parse(all[0]?.data)
  const identity = { logId, epoch: 1 }
  const key = signingKey(originOf(identity), seed)
  const signed = (origin: string, { size, root }: { size: number; root: Hash }) => {
    const text = checkpointText({ origin, size, root })
    const { name, keyId } = key.verifier
    const signature = key.sign(cryptography.utf8(text))
    return writeNote({ text, signatures: [{ name, keyId, signature }] })
  }
  const leaves = all.map(({ meta }) => leafOf(meta.hash))
  const log = treeOver(leaves)
  const ends = [...new Map(all.map((event) => [event.stream, event])).values()]
  const heads = treeOver(
    ends.map(({ stream, revision, meta: { hash } }) => headLeaf(cryptography, { stream, revision, hash })),
  )
  const checkpoint = signed(originOf(identity), log)
  const headsCheckpoint = signed(headsOriginOf(identity, log.size), heads)
  const streams = ['task', 'terminal'].map((kind) =>
    all.filter(({ stream }) => stream.startsWith(`${kind}-`)),
  )
  const taskId = streams[0]?.[0]?.stream.slice('task-'.length) ?? ''
  const contentOf = (event: Envelope): BundledContent => {
    if (event.meta.content === null) return { kind: 'none' }
    const other = otherContent(event)
    if (other !== undefined) return other
    if (isErased) return { kind: 'erased' }
    const category = withheldAs(event.type, withheld)
    return category === undefined
      ? { kind: 'disclosed', text: contents.get(event.id) ?? '' }
      : { kind: 'withheld', category }
  }
  const source = {
    ...identity,
    taskId,
    keys: [key.vkey, ...olderKeys],
    links,
    checkpoint,
    headsCheckpoint,
    withheld,
    events: streams.flat().map((event) => ({ event, content: contentOf(event) })),
    proofsOf: (event: Envelope) => {
      if (!ends.includes(event)) return {}
      return {
        inLog: log.proofOf(all.indexOf(event), checkpoint),
        atEnd: heads.proofOf(ends.indexOf(event), headsCheckpoint),
      }
    },
    stateOf: async () => blobState,
    seals: {
      from: sealsFrom,
      sizes: [...sealedAt],
      asked: [...asked],
      proofs: [...new Set([...sealedAt, ...asked])].map((older) => ({
        size: older,
        root: toBase64(treeOver(leaves.slice(0, older)).root),
        proof: log.consistencyFrom(older).map(toBase64),
      })),
    },
    sign: key.sign,
  }
  const lines: string[] = []
  for await (const line of writeBundle(source, cryptography)) lines.push(line)
  return lines
}
