/** Writes an audit bundle, line by line. */
import { toBase64 } from '../kernel/base64.ts'
import { type BundledContent, type BundleRecord, type Envelope, type Manifest } from './auditBundle.schema.ts'
import {
  bundleFormat,
  bundleVersion,
  manifestType,
  predicateType,
  type ContentCategory,
} from './auditBundle.ts'
import { originOf, signedBytes, type Cryptography } from './bundleHashes.ts'
import { parseCheckpoint, parseNote } from './checkpoint.ts'

export interface BundleSource {
  readonly logId: string
  readonly epoch: number
  readonly taskId: string
  readonly keys: readonly string[]
  /** The signed checkpoint that all proofs lead to. */
  readonly checkpoint: string
  readonly withheld: readonly ContentCategory[]
  /** Each stream from revision 0, in any order of the streams. */
  readonly events: Iterable<{ readonly event: Envelope; readonly content: BundledContent }>
  /** The tlog-proof of an event, where one is to be in the bundle. The last of each stream needs one. */
  readonly proofOf: (event: Envelope) => string | undefined
  /** Signs with the newest of the keys. */
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** Throws a RangeError when the checkpoint is not one of this log. */
export function* writeBundle(source: BundleSource, cryptography: Cryptography): Generator<string> {
  const { logId, epoch, taskId, keys, checkpoint } = source
  const head = parseCheckpoint(parseNote(checkpoint)?.text ?? '')
  if (head?.origin !== originOf(source)) throw new RangeError('The checkpoint belongs to another log.')
  yield line({
    kind: 'header',
    format: bundleFormat,
    version: bundleVersion,
    logId,
    epoch,
    taskId,
    keys: [...keys],
    checkpoint,
  })
  const heads = new Map<string, Envelope>()
  for (const { event, content } of source.events) {
    heads.set(event.stream, event)
    yield line({ kind: 'event', event, content })
    const proof = source.proofOf(event)
    if (proof !== undefined)
      yield line({ kind: 'proof', stream: event.stream, revision: event.revision, proof })
  }
  const manifest: Manifest = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...heads].map(([name, { meta }]) => ({ name, digest: { sha256: meta.hash } })),
    predicateType,
    predicate: {
      logId,
      epoch,
      taskId,
      keys: [...keys],
      treeSize: head.size,
      heads: Object.fromEntries([...heads].map(([name, { revision }]) => [name, revision])),
      withheld: [...source.withheld],
    },
  }
  const payload = JSON.stringify(manifest)
  const sig = toBase64(source.sign(signedBytes(cryptography, manifestType, payload)))
  yield line({
    kind: 'manifest',
    payloadType: manifestType,
    payload,
    signatures: [{ keyid: keys[0] ?? '', sig }],
  })
}

function line(record: BundleRecord): string {
  return JSON.stringify(record)
}
