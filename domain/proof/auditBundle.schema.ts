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

/** An event as the log stores it, without its position and its encrypted content. */
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
  /** The key with which the content was encrypted was destroyed. */
  z.strictObject({ kind: z.literal('erased') }),
  /** The ciphertext matches the event, but the server does not have the key for it. */
  z.strictObject({ kind: z.literal('missing_key') }),
  /** The ciphertext, or the text decrypted from it, does not match the event. */
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
    /** For each change of the key, a note signed with the old key that names the new key. */
    links: z.array(z.string()),
    /** The signed checkpoint against which the proofs of events and of seals are checked. */
    checkpoint: z.string(),
    /** The signed checkpoint over the last event of every stream, made when the log had the size of `checkpoint`. */
    heads: z.string(),
  }),
  z.strictObject({ kind: z.literal('event'), event: Envelope, content: BundledContent }),
  /** A tlog-proof that the event is in the tree of the header's checkpoint. */
  z.strictObject({ kind: z.literal('proof'), stream: z.string(), revision: Revision, proof: z.string() }),
  /** A tlog-proof that this revision was the last of its stream when the log was sealed. It refers to the tree of the header's `heads`. */
  z.strictObject({ kind: z.literal('end'), stream: z.string(), revision: Revision, proof: z.string() }),
  /**
   * An earlier seal of the epoch, or an earlier size of the log that the reader requested. `proof` shows that its tree is a prefix of the tree of the
   * header's checkpoint. Hashes are in base64.
   */
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

/**
 * Events of a stream, from revision `first` to `last`. The content of each is missing for the reason `kind`, unless it is withheld or never existed.
 */
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
  /** `sizes` lists every seal of the epoch from this size of the log on, except the one in the header. */
  from: z.int().nonnegative(),
  /** The number of events that each listed seal covers. The bundle has a line for each of these seals. */
  sizes: z.array(z.int().positive()),
  /** Sizes of the log that the reader requested, which need not be sizes of seals. The bundle has a line for each of these sizes too. */
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
    /** The events whose content the server could not open. All other content is in the bundle, unless it is withheld. */
    unopened: z.array(UnopenedRun),
    /** The blobs to which the events refer, each once, with the state in which the server found it. */
    blobs: z.array(ListedBlob),
    seals: ListedSeals,
  }),
})
export type Manifest = z.infer<typeof Manifest>
