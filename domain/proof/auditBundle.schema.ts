/** The records of an audit bundle, and its manifest. */
import { z } from 'zod'
import { EventMeta } from '../kernel/event.schema.ts'
import {
  blobStates,
  bundleFormat,
  bundleVersion,
  contentCategories,
  manifestType,
  predicateType,
  unopenedKinds,
} from './auditBundle.ts'

const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/)
const Revision = z.int().nonnegative()

/** An event as the log stores it, without its position and its sealed content. */
export const Envelope = z.strictObject({
  id: z.string(),
  stream: z.string(),
  revision: Revision,
  type: z.string(),
  version: z.int().positive(),
  at: z.string(),
  data: z.unknown(),
  meta: EventMeta,
})
export type Envelope = z.infer<typeof Envelope>

/** The state of an event's content in this bundle. */
export const BundledContent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  /** The salted plaintext: its SHA-256 is the event's commitment. */
  z.strictObject({ kind: z.literal('disclosed'), text: z.string() }),
  z.strictObject({ kind: z.literal('withheld'), category: z.enum(contentCategories) }),
  /** The key of the content was destroyed. */
  z.strictObject({ kind: z.literal('erased') }),
  /** The ciphertext is the recorded one, but the server does not have its key. */
  z.strictObject({ kind: z.literal('missing_key') }),
  /** The ciphertext, or the text decrypted from it, is not what was recorded. */
  z.strictObject({ kind: z.literal('changed') }),
])
export type BundledContent = z.infer<typeof BundledContent>

export const BundleRecord = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('header'),
    format: z.literal(bundleFormat),
    version: z.literal(bundleVersion),
    logId: z.string(),
    epoch: z.int().positive(),
    taskId: z.string(),
    /** The keys with which this log signs or has signed, newest first. */
    keys: z.array(z.string()).min(1),
    /** For each key change, a note in which the old key names its successor. */
    links: z.array(z.string()),
    /** The signed checkpoint against which the proofs of events and of seals are checked. */
    checkpoint: z.string(),
    /** The signed checkpoint over the last event of every stream, for the same size of the log. */
    heads: z.string(),
  }),
  z.strictObject({ kind: z.literal('event'), event: Envelope, content: BundledContent }),
  /** A tlog-proof that the event is in the tree of the header's checkpoint. */
  z.strictObject({ kind: z.literal('proof'), stream: z.string(), revision: Revision, proof: z.string() }),
  /** A tlog-proof, for the tree of the header's `heads`, that this revision was the last of the stream when the log was sealed. */
  z.strictObject({ kind: z.literal('end'), stream: z.string(), revision: Revision, proof: z.string() }),
  /** An earlier seal of the epoch, with the hashes that prove its tree to be a prefix of the header's; all in base64. */
  z.strictObject({
    kind: z.literal('seal'),
    size: z.int().positive(),
    root: z.string(),
    proof: z.array(z.string()),
  }),
  /** An in-toto statement in a DSSE envelope: payload and signature are in base64. */
  z.strictObject({
    kind: z.literal('manifest'),
    payloadType: z.literal(manifestType),
    payload: z.string(),
    signatures: z.array(z.strictObject({ keyid: z.string(), sig: z.string() })).length(1),
  }),
])
export type BundleRecord = z.infer<typeof BundleRecord>
export type BundleHeader = Extract<BundleRecord, { kind: 'header' }>

/** Events of one stream, from revision `first` to `last`. Each of their contents is missing for the reason `kind`, or withheld. */
const UnopenedRun = z.strictObject({
  stream: z.string(),
  first: Revision,
  last: Revision,
  kind: z.enum(unopenedKinds),
})
export type UnopenedRun = z.infer<typeof UnopenedRun>

const ListedBlob = z.strictObject({ hash: Sha256Hex, state: z.enum(blobStates) })
export type ListedBlob = z.infer<typeof ListedBlob>

const ListedSeals = z.strictObject({
  /** `sizes` has every seal from this size up to the header's checkpoint; with 0, it has every seal of the epoch. */
  from: z.int().nonnegative(),
  /** The number of events under each of these seals. The bundle has a line for each of them. */
  sizes: z.array(z.int().positive()),
  /** Sizes that the reader requested, which need not be sizes of seals. The bundle has a line for each of them too. */
  asked: z.array(z.int().positive()),
})
export type ListedSeals = z.infer<typeof ListedSeals>

/** The statement that the log's key signs for a bundle. */
export const Manifest = z.strictObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  /** The streams by name, each with the hash of its last event. */
  subject: z.array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: Sha256Hex }) })),
  predicateType: z.literal(predicateType),
  predicate: z.strictObject({
    /** The SHA-256 of the header's line, without its newline. */
    header: Sha256Hex,
    /** The revision of each stream's last event. */
    heads: z.record(z.string(), Revision),
    withheld: z.array(z.enum(contentCategories)),
    /** Contents that the server could not open. Every other content that is not withheld is in the bundle. */
    unopened: z.array(UnopenedRun),
    /** The blobs that the events refer to, each once, with the state in which the server found them. */
    blobs: z.array(ListedBlob),
    seals: ListedSeals,
  }),
})
export type Manifest = z.infer<typeof Manifest>
