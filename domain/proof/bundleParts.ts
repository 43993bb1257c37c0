/** A parsed bundle: its parts, and the faults found in them. */
import type { BundledContent, BundleHeader, BundleRecord, Envelope, Manifest } from './auditBundle.schema.ts'
import type { Checkpoint, VerifierKey } from './checkpoint.ts'

export interface BundleFault {
  /**
   * `changed`: differs from what was recorded. `removed`, `added`: missing, or never recorded. `moved`: in a wrong place. `unproven`: nothing shows
   * that the event was in the log. `unsigned`: the log's key did not sign the part. `unreadable`: the line is not a record of a bundle.
   */
  readonly kind: 'changed' | 'removed' | 'added' | 'moved' | 'unproven' | 'unsigned' | 'unreadable'
  /** `stream@revision` of an event, or the name of a part of the bundle. */
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

/** A key that the header lists: as text, and parsed. */
export interface ListedKey {
  readonly text: string
  readonly key: VerifierKey
}

/** The parts of a bundle that the header's keys have signed. */
export interface Signed {
  /** The keys of the header. */
  readonly keys: readonly ListedKey[]
  /** `undefined` when none of these keys signed a checkpoint. */
  readonly checkpoint: Checkpoint | undefined
  /** The signed checkpoint over the last events of all streams. */
  readonly heads: Checkpoint | undefined
}

/** The manifest, if one of the header's keys signed it. */
export interface SignedManifest {
  readonly signer: ListedKey
  readonly manifest: Manifest
}
