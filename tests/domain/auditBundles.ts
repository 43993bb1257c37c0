/** Audit bundles of the task in the kept log of version 1, and what proves them. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { StoredEventShape } from './storedEvents.ts'
import { type BundledContent, type Envelope } from '../../domain/proof/auditBundle.schema.ts'
import { withheldAs, type ContentCategory } from '../../domain/proof/auditBundle.ts'
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
  emptyFrontier,
  inclusionPath,
  leafHash,
  rootOf,
  type Frontier,
  type Hash,
} from '../../domain/proof/merkleTree.ts'
import { headLeaf, headsOriginOf } from '../../domain/proof/sealNotes.ts'
import { writeBundle } from '../../domain/proof/writeBundle.ts'
import { cryptography, rawPublicKey } from '../../services/platform/seals/cryptography.ts'

const { sha256 } = cryptography

/** An Ed25519 key that is always the same, so that a bundle is too. */
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
const Sealed = z.object({ id: z.string(), sealed: z.string() })
const contents = new Map(
  linesOf('contents.ndjson').map((line) => {
    const { id, sealed } = Sealed.parse(JSON.parse(line))
    return [id, sealed]
  }),
)

export interface BundleWish {
  readonly withheld?: readonly ContentCategory[]
  readonly isErased?: boolean
  /** The events, where they are to be other than those of the kept log. */
  readonly all?: readonly Envelope[]
  readonly seed?: number
}

export const keptEnvelopes: readonly Envelope[] = events.map(
  ({ position: _position, content: _content, ...event }) => event,
)

/** A tree over leaves, with proofs for each of them. */
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
  return {
    size: leaves.length,
    root: rootOf(sha256, frontier),
    proofOf: (index: number, note: string) =>
      writeInclusionProof({
        index,
        proof: inclusionPath(index, leaves.length).map((part) => combine(sha256, part.map(hashOf))),
        note,
      }),
  }
}

/** The lines of a bundle of the kept log's task, sealed as the whole log is. */
export async function bundleOf({
  withheld = [],
  isErased = false,
  all = keptEnvelopes,
  seed = 7,
}: BundleWish = {}): Promise<readonly string[]> {
  const { logId } = z.object({ logId: z.string() }).parse(all[0]?.data)
  const identity = { logId, epoch: 1 }
  const key = signingKey(originOf(identity), seed)
  const signed = (origin: string, { size, root }: { size: number; root: Hash }) => {
    const text = checkpointText({ origin, size, root })
    const { name, keyId } = key.verifier
    const signature = key.sign(cryptography.utf8(text))
    return writeNote({ text, signatures: [{ name, keyId, signature }] })
  }
  const log = treeOver(all.map(({ meta }) => leafOf(meta.hash)))
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
    if (isErased) return { kind: 'erased' }
    const category = withheldAs(event.type, withheld)
    return category === undefined
      ? { kind: 'disclosed', text: contents.get(event.id) ?? '' }
      : { kind: 'withheld', category }
  }
  const source = {
    ...identity,
    taskId,
    keys: [key.vkey],
    checkpoint,
    headsCheckpoint,
    withheld,
    events: streams.flat().map((event) => ({ event, content: contentOf(event) })),
    proofsOf: (event: Envelope) => {
      const isEnd = ends.includes(event)
      return {
        ...(isEnd || event.type.startsWith('Execution')
          ? { inLog: log.proofOf(all.indexOf(event), checkpoint) }
          : {}),
        ...(isEnd ? { atEnd: heads.proofOf(ends.indexOf(event), headsCheckpoint) } : {}),
      }
    },
    sign: key.sign,
  }
  const lines: string[] = []
  for await (const line of writeBundle(source, cryptography)) lines.push(line)
  return lines
}
