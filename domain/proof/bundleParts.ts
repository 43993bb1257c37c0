/** The types of a parsed audit bundle: its parts, and the faults that checks find in them. */
import type { BundledContent, BundleHeader, BundleRecord, Envelope, Manifest } from './auditBundle.schema.ts'
import type { Checkpoint, VerifierKey } from './checkpoint.ts'

export interface BundleFault {
  /**
   * `changed`: the part differs from what was recorded. `removed`: it is missing. `added`: it was never recorded. `moved`: it is in a wrong place.
   * `unproven`: nothing shows that the event was in the log. `unsigned`: no key of the log signed the part. `unreadable`: the line is not a record of
   * a bundle, or the manifest in it cannot be read.
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

/** A key that the header lists, as text and parsed. */
export interface ListedKey {
  readonly text: string
  readonly key: VerifierKey
}

/** The parts of a bundle that the header's keys have signed. */
export interface Signed {
  /** The keys of the header. */
  readonly keys: readonly ListedKey[]
  /** The header's checkpoint; `undefined` when none of `keys` signed it. */
  readonly checkpoint: Checkpoint | undefined
  /** The checkpoint over the last events of all streams; `undefined` when none of `keys` signed it. */
  readonly heads: Checkpoint | undefined
}

/** The manifest, if one of the header's keys signed it. */
export interface SignedManifest {
  readonly signer: ListedKey
  readonly manifest: Manifest
}
