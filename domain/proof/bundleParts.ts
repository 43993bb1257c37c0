/** A bundle after reading: its parts, and the faults found in them. */
import type { BundledContent, BundleHeader, BundleRecord, Envelope, Manifest } from './auditBundle.schema.ts'
import type { Checkpoint, VerifierKey } from './checkpoint.ts'

export interface BundleFault {
  /**
   * `changed`: differs from what was recorded. `removed` and `added`: missing, and never recorded. `moved`: in another place. `unproven`: nothing
   * shows that it was in the log. `unsigned`: the log's key did not sign it. `unreadable`: a line that is no record of a bundle.
   */
  readonly kind: 'changed' | 'removed' | 'added' | 'moved' | 'unproven' | 'unsigned' | 'unreadable'
  /** The place of an event as `stream@revision`, or the part of the bundle. */
  readonly where: string
  readonly why: string
}

export interface BundledEvent {
  readonly event: Envelope
  readonly content: BundledContent
}

export type SealRecord = Extract<BundleRecord, { kind: 'seal' }>

/** The records of a bundle, by kind. */
export interface Parts {
  readonly header: BundleHeader | undefined
  /** The line of the header exactly as it was written. */
  readonly headerLine: string
  readonly streams: ReadonlyMap<string, readonly BundledEvent[]>
  readonly proofs: readonly Extract<BundleRecord, { kind: 'proof' | 'end' }>[]
  readonly seals: readonly SealRecord[]
  readonly manifests: readonly Extract<BundleRecord, { kind: 'manifest' }>[]
}

/** A key of the header: as text, and parsed. */
export interface ListedKey {
  readonly text: string
  readonly key: VerifierKey
}

/** What keys of the header have signed. */
export interface Signed {
  /** The keys of the header. */
  readonly keys: readonly ListedKey[]
  /** The checkpoint; `undefined` when none of these keys signed it. */
  readonly checkpoint: Checkpoint | undefined
  /** The signed checkpoint over the ends of all streams. */
  readonly heads: Checkpoint | undefined
}

/** The manifest, if one of the header's keys signed it. */
export interface SignedManifest {
  readonly signer: ListedKey
  readonly manifest: Manifest
}
