/** A bundle that was read: its parts, and what was found in them. */
import type { BundledContent, BundleHeader, BundleRecord, Envelope } from './auditBundle.schema.ts'
import type { Checkpoint, VerifierKey } from './checkpoint.ts'

export interface BundleFault {
  /**
   * `changed`: not what was recorded. `removed`, `added`: missing, or never recorded. `moved`: in another place. `unproven`: nothing shows
   * that it was in the log. `unsigned`: the log's key did not sign it. `unreadable`: a line that is no record of a bundle.
   */
  readonly kind: 'changed' | 'removed' | 'added' | 'moved' | 'unproven' | 'unsigned' | 'unreadable'
  /** `stream@revision` of an event, or the part of the bundle. */
  readonly where: string
  readonly why: string
}

export interface BundledEvent {
  readonly event: Envelope
  readonly content: BundledContent
}

/** The records of a bundle, sorted. */
export interface Parts {
  readonly header: BundleHeader | undefined
  readonly streams: ReadonlyMap<string, readonly BundledEvent[]>
  readonly proofs: readonly Extract<BundleRecord, { kind: 'proof' | 'end' }>[]
  readonly manifests: readonly Extract<BundleRecord, { kind: 'manifest' }>[]
}

/** What the log's key vouches for. */
export interface Signed {
  /** The key that signed the checkpoint, as text. */
  readonly text: string
  /** The reader does not know this key: one that they know names it as its successor. */
  readonly isReplacement: boolean
  /** The keys that the reader takes for the log's, by their text. */
  readonly keys: ReadonlyMap<string, VerifierKey>
  readonly checkpoint: Checkpoint
  /** Over the ends of all streams; `undefined` when it was not signed. */
  readonly heads: Checkpoint | undefined
}
