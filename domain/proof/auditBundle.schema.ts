/** The records of an audit bundle, and its manifest. */
import { z } from 'zod'
import { EventMeta } from '../kernel/event.schema.ts'
import { bundleFormat, bundleVersion, contentCategories, manifestType, predicateType } from './auditBundle.ts'

const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/)
const Revision = z.int().nonnegative()

/** An event as the log keeps it, without its position and its sealed content. */
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

/** What became of an event's content in this bundle. */
export const BundledContent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  /** The salted content as it was sealed: a text whose SHA-256 is the event's commitment. */
  z.strictObject({ kind: z.literal('disclosed'), text: z.string() }),
  z.strictObject({ kind: z.literal('withheld'), category: z.enum(contentCategories) }),
  /** Its key was destroyed. */
  z.strictObject({ kind: z.literal('erased') }),
  /** It could not be opened: its key is missing, or it was changed in the log. */
  z.strictObject({ kind: z.literal('unreadable') }),
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
    /** The keys that this log signs or signed with, newest first. */
    keys: z.array(z.string()).min(1),
    /** Where a key was replaced: notes by which each key names the one after it. */
    links: z.array(z.string()).optional(),
    /** The signed checkpoint that all proofs lead to. */
    checkpoint: z.string(),
    /** The signed checkpoint over the end of every stream, as of the same moment. */
    heads: z.string(),
  }),
  z.strictObject({ kind: z.literal('event'), event: Envelope, content: BundledContent }),
  /** That the event is in the tree of the header's checkpoint, as a tlog-proof. */
  z.strictObject({ kind: z.literal('proof'), stream: z.string(), revision: Revision, proof: z.string() }),
  /** That the stream ended with the event of this revision when the log was sealed, as a tlog-proof for the tree of the header's `heads`. */
  z.strictObject({ kind: z.literal('end'), stream: z.string(), revision: Revision, proof: z.string() }),
  /** An in-toto statement in a DSSE envelope, which says where each stream ends. */
  z.strictObject({
    kind: z.literal('manifest'),
    payloadType: z.literal(manifestType),
    payload: z.string(),
    signatures: z.array(z.strictObject({ keyid: z.string(), sig: z.string() })).min(1),
  }),
])
export type BundleRecord = z.infer<typeof BundleRecord>
export type BundleHeader = Extract<BundleRecord, { kind: 'header' }>

/** Every content of these revisions that was not withheld is of this kind. */
const UnopenedRun = z.object({
  stream: z.string(),
  first: Revision,
  last: Revision,
  kind: z.enum(['erased', 'unreadable']),
})
export type UnopenedRun = z.infer<typeof UnopenedRun>

/** What the manifest says: how far each stream went when the bundle was made. */
export const Manifest = z.object({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  /** Each stream under its name, by the hash of its last event. */
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: Sha256Hex }) })),
  predicateType: z.literal(predicateType),
  predicate: z.object({
    logId: z.string(),
    epoch: z.int().positive(),
    taskId: z.string(),
    /** As in the header. */
    keys: z.array(z.string()),
    treeSize: z.int().positive(),
    /** The revision of each stream's last event. */
    heads: z.record(z.string(), Revision),
    withheld: z.array(z.enum(contentCategories)),
    /** Contents that the server could not show. Any other that is not withheld is in the bundle. */
    unopened: z.array(UnopenedRun).optional(),
  }),
})
export type Manifest = z.infer<typeof Manifest>
