/** Writes an audit bundle, line by line. */
import { toBase64 } from '../kernel/base64.ts'
import type {
  BundledContent,
  BundleHeader,
  BundleRecord,
  Envelope,
  ListedBlob,
  ListedSeals,
  Manifest,
} from './auditBundle.schema.ts'
import {
  bundleFormat,
  bundleVersion,
  manifestType,
  predicateType,
  type BlobState,
  type ContentCategory,
} from './auditBundle.ts'
import { blobsIn, unopenedRuns } from './bundleContents.ts'
import { hexOf, originOf, signedBytes, type Cryptography } from './bundleHashes.ts'
import type { SealRecord } from './bundleParts.ts'
import { parseCheckpoint, parseNote } from './checkpoint.ts'

export interface BundledEvent {
  readonly event: Envelope
  readonly content: BundledContent
}

/** Tlog-proofs for an event. `inLog`: the event is in the log. `atEnd`: the event is the last of its stream. */
export interface EventProofs {
  readonly inLog: string
  readonly atEnd: string
}

export interface BundleSource {
  readonly logId: string
  readonly epoch: number
  readonly taskId: string
  readonly keys: readonly string[]
  /** For each change of the key, a note signed with the old key that names the new key. */
  readonly links: readonly string[]
  /** The signed checkpoint against which the proofs of events and of seals are checked. */
  readonly checkpoint: string
  readonly withheld: readonly ContentCategory[]
  /** The signed checkpoint over the last events of all streams, made when the log had the size of `checkpoint`. */
  readonly headsCheckpoint: string
  /** The events, stream by stream, each stream from revision 0 on. */
  readonly events: AsyncIterable<BundledEvent> | Iterable<BundledEvent>
  /** The proofs that the bundle gets for an event. The last event of each stream needs both `inLog` and `atEnd`. */
  readonly proofsOf: (event: Envelope) => Partial<EventProofs>
  /** The state in which the server finds a blob. */
  readonly stateOf: (blob: string, stream: string) => Promise<BlobState>
  /** The seals that the manifest lists, and their proofs. */
  readonly seals: ListedSeals & { readonly proofs: readonly Omit<SealRecord, 'kind'>[] }
  /** Makes a signature with the newest key of the log. */
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** Writes the lines of a bundle. Throws a RangeError when the checkpoint belongs to another log. */
export async function* writeBundle(source: BundleSource, cryptography: Cryptography): AsyncGenerator<string> {
  const { logId, epoch, taskId, keys, links, checkpoint, headsCheckpoint } = source
  const head = parseCheckpoint(parseNote(checkpoint)?.text ?? '')
  if (head?.origin !== originOf(source)) throw new RangeError('The checkpoint belongs to another log.')
  const header: BundleHeader = {
    kind: 'header',
    format: bundleFormat,
    version: bundleVersion,
    logId,
    epoch,
    taskId,
    keys: [...keys],
    links: [...links],
    checkpoint,
    heads: headsCheckpoint,
  }
  const headerLine = line(header)
  yield headerLine
  const heads = new Map<string, Envelope>()
  const unopened = unopenedRuns()
  /** For each blob's hash, the stream that refers to the blob. */
  const named = new Map<string, string>()
  for await (const { event, content } of source.events) {
    heads.set(event.stream, event)
    unopened.add(event, content)
    for (const blob of blobsIn(event)) named.set(blob, event.stream)
    yield line({ kind: 'event', event, content })
    const { stream, revision } = event
    const { inLog, atEnd } = source.proofsOf(event)
    if (inLog !== undefined) yield line({ kind: 'proof', stream, revision, proof: inLog })
    if (atEnd !== undefined) yield line({ kind: 'end', stream, revision, proof: atEnd })
  }
  const { proofs, ...seals } = source.seals
  for (const proof of proofs) yield line({ kind: 'seal', ...proof })
  const blobs: ListedBlob[] = []
  for (const [hash, stream] of named) blobs.push({ hash, state: await source.stateOf(hash, stream) })
  const manifest: Manifest = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...heads].map(([name, { meta }]) => ({ name, digest: { sha256: meta.hash } })),
    predicateType,
    predicate: {
      header: hexOf(cryptography.sha256(cryptography.utf8(headerLine))),
      heads: Object.fromEntries([...heads].map(([name, { revision }]) => [name, revision])),
      withheld: [...source.withheld],
      unopened: unopened.runs(),
      blobs,
      seals,
    },
  }
  const payload = cryptography.utf8(JSON.stringify(manifest))
  const sig = toBase64(source.sign(signedBytes(cryptography, manifestType, payload)))
  yield line({
    kind: 'manifest',
    payloadType: manifestType,
    payload: toBase64(payload),
    signatures: [{ keyid: keys[0] ?? '', sig }],
  })
}

function line(record: BundleRecord): string {
  return JSON.stringify(record)
}
