/** Audit bundles of the task in the kept log of version 1, and what proves them. */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { StoredEventShape } from './storedEvents.ts'
import { type BundledContent, type Envelope } from '../../domain/proof/auditBundle.schema.ts'
import { categoryOf, type ContentCategory } from '../../domain/proof/auditBundle.ts'
import { leafOf, originOf, type Cryptography } from '../../domain/proof/bundleHashes.ts'
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
import { writeBundle } from '../../domain/proof/writeBundle.ts'

const spki = Buffer.from('302a300506032b6570032100', 'hex')
const sha256 = (bytes: Uint8Array): Hash => new Uint8Array(createHash('sha256').update(bytes).digest())

export const cryptography: Cryptography = {
  sha256,
  utf8: (text) => new TextEncoder().encode(text),
  isSignedBy: (publicKey, message, signature) =>
    verify(
      null,
      message,
      createPublicKey({ key: Buffer.concat([spki, publicKey]), format: 'der', type: 'spki' }),
      signature,
    ),
}

/** An Ed25519 key that is always the same, so that a bundle is too. */
export function signingKey(name: string, seed: number) {
  const pkcs8 = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.alloc(32, seed),
  ])
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(spki.length)
  const verifier = verifierKey(sha256, name, new Uint8Array(publicKey))
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

/** The lines of a bundle of the kept log's task, sealed as the whole log is. */
export function bundleOf({
  withheld = [],
  isErased = false,
  all = keptEnvelopes,
  seed = 7,
}: BundleWish = {}): readonly string[] {
  const begun = all[0]?.data
  const { logId } = z.object({ logId: z.string() }).parse(begun)
  const origin = originOf({ logId, epoch: 1 })
  const key = signingKey(origin, seed)
  const nodes = new Map<string, Hash>()
  const frontier = all.reduce<Frontier>(
    (grown, { meta }) =>
      append(sha256, grown, leafHash(sha256, leafOf(meta.hash)), ({ level, index }, hash) =>
        nodes.set(`${level}/${index}`, hash),
      ),
    emptyFrontier,
  )
  const text = checkpointText({ origin, size: frontier.size, root: rootOf(sha256, frontier) })
  const { name, keyId } = key.verifier
  const checkpoint = writeNote({
    text,
    signatures: [{ name, keyId, signature: key.sign(cryptography.utf8(text)) }],
  })
  const streams = ['task', 'terminal'].map((kind) =>
    all.filter(({ stream }) => stream.startsWith(`${kind}-`)),
  )
  const taskId = streams[0]?.[0]?.stream.slice('task-'.length) ?? ''
  const ends = new Set(streams.map((stream) => stream.at(-1)))
  const contentOf = (event: Envelope): BundledContent => {
    if (event.meta.content === null) return { kind: 'none' }
    if (isErased) return { kind: 'erased' }
    const category = categoryOf(event.type)
    return withheld.includes(category)
      ? { kind: 'withheld', category }
      : { kind: 'disclosed', text: contents.get(event.id) ?? '' }
  }
  const hashOf = ({ level, index }: { level: number; index: number }) =>
    nodes.get(`${level}/${index}`) ?? new Uint8Array(32)
  return [
    ...writeBundle(
      {
        logId,
        epoch: 1,
        taskId,
        keys: [key.vkey],
        checkpoint,
        withheld,
        events: streams.flat().map((event) => ({ event, content: contentOf(event) })),
        proofOf: (event) => {
          if (!ends.has(event) && !event.type.startsWith('Execution')) return undefined
          const index = all.indexOf(event)
          const proof = inclusionPath(index, all.length).map((part) => combine(sha256, part.map(hashOf)))
          return writeInclusionProof({ index, proof, note: checkpoint })
        },
        sign: key.sign,
      },
      cryptography,
    ),
  ]
}
