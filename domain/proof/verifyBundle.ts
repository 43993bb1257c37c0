/** Checks an audit bundle, and reports each record that was changed, removed, added or moved. */
import { withheldAs, type BlobState, type ContentCategory } from './auditBundle.ts'
import type { BundleHeader, Manifest } from './auditBundle.schema.ts'
import { chainFaults, orderFaults } from './bundleChain.ts'
import type { Cryptography } from './bundleHashes.ts'
import { manifestFaults, signedManifest } from './bundleManifest.ts'
import type { BundleFault, Parts, Signed, SignedManifest } from './bundleParts.ts'
import { howKnown, proofFaults, signedHeader, type Known } from './bundleProofs.ts'
import { lastIndexIn, provenSeals, witnessOf, type GivenSeals, type Witnessing } from './bundleSeals.ts'
import type { VerifierKey, Cosignature } from './checkpoint.ts'
import { keyFingerprint } from './logKeys.ts'
import { readBundle, type OtherFormat } from './readBundle.ts'

export interface BundleReport {
  /**
   * `whole`: the bundle has no faults, and the reader knows its key. `intact`: the bundle has no faults, but the reader named no keys, so anybody may
   * have signed it. `not_whole`: it has faults. `unknown_key`: the reader named keys, but does not know the bundle's key, so most is unchecked.
   */
  readonly verdict: 'whole' | 'intact' | 'not_whole' | 'unknown_key' | OtherFormat
  readonly faults: readonly BundleFault[]
  readonly logId: string | null
  readonly taskId: string | null
  readonly events: number
  readonly disclosed: number
  readonly erased: number
  /** The number of events for whose content the server has no key. */
  readonly missingKey: number
  readonly withheld: Readonly<Partial<Record<ContentCategory, number>>>
  /** The number of events whose content was withheld when the bundle was made, and added to the bundle later. */
  readonly disclosedLater: number
  readonly blobs: Readonly<Record<BlobState, number>>
  /** The key that signed the manifest, as text; `null` when none of the header's keys signed it. */
  readonly signedBy: string | null
  /** The fingerprint of the key that signed the manifest. */
  readonly fingerprint: string | null
  /** How many events the log had when the header's checkpoint was signed. */
  readonly treeSize: number | null
  /** Whether the bundle was signed with a successor of a key that the reader named. */
  readonly isReplacement: boolean
  /**
   * Whether the bundle agrees with a seal from elsewhere that covers all its events. If the reader named witnesses, one of them must have signed that
   * seal.
   */
  readonly isWitnessed: boolean
  readonly seals: GivenSeals
  /** The cosignatures by witnesses that the reader named. */
  readonly cosignatures: readonly Cosignature[]
}

export interface ReaderKnows {
  /** The keys that the reader trusts, as verifier keys or fingerprints. Without them, no bundle is `whole`. */
  readonly keys?: readonly string[]
  /** The lines of a file with the log's seals, which the reader got from elsewhere than the bundle. */
  readonly seals?: Iterable<string>
  /** The keys of the witnesses whose cosignatures count. */
  readonly witnesses?: readonly VerifierKey[]
}

/** Checks a bundle: its records, manifest, proofs and seals. */
export function verifyBundle(
  lines: Iterable<string>,
  cryptography: Cryptography,
  { keys = [], seals = [], witnesses = [] }: ReaderKnows = {},
): BundleReport {
  const read = readBundle(lines)
  if (typeof read === 'string') return { ...emptyReport, verdict: read }
  const { parts } = read
  const { header } = parts
  const faults = [...read.faults]
  if (header === undefined) {
    const why = 'The bundle does not begin with its header.'
    return reportOf(parts, [...faults, { kind: 'removed', where: 'header', why }], {})
  }
  const signed = signedHeader(header, cryptography)
  const manifest = signedManifest(parts, signed.keys, cryptography)
  const known = manifest.signed && howKnown(header, manifest.signed.signer, keys, cryptography)
  const signer = manifest.signed && signerOf(manifest.signed, known, cryptography)
  const isUnknown = keys.length > 0 && known === undefined
  if (signer && isUnknown) return { ...reportOf(parts, faults, { signer }), verdict: 'unknown_key' }
  faults.push(...manifest.faults)
  for (const [stream, events] of parts.streams) faults.push(...chainFaults(stream, events, cryptography))
  faults.push(...orderFaults(header, parts.streams))
  if (manifest.signed) faults.push(...manifestFaults(parts, manifest.signed.manifest, cryptography))
  faults.push(...proofFaults(parts, signed, cryptography))
  const held =
    manifest.signed &&
    heldAgainst({ parts, header, signed, ...manifest.signed }, seals, witnesses, cryptography)
  faults.push(...(held?.faults ?? []))
  const report = reportOf(parts, faults, { signed, signer, held, manifest: manifest.signed?.manifest })
  return faults.length > 0 ? report : { ...report, verdict: keys.length > 0 ? 'whole' : 'intact' }
}

interface Signer {
  readonly signedBy: string
  readonly fingerprint: string
  readonly isReplacement: boolean
}

function signerOf(
  { signer: { text, key } }: SignedManifest,
  known: Known | undefined,
  { sha256 }: Cryptography,
): Signer {
  return {
    signedBy: text,
    fingerprint: keyFingerprint(sha256, key.publicKey),
    isReplacement: known === 'replacement',
  }
}

/** Checks the bundle's own seals, and compares it with the reader's `seals`; `undefined` when the bundle has no signed checkpoints. */
function heldAgainst(
  bundle: {
    readonly parts: Parts
    readonly header: BundleHeader
    readonly signed: Signed
    readonly manifest: Manifest
  },
  seals: Iterable<string>,
  witnesses: readonly VerifierKey[],
  cryptography: Cryptography,
): Witnessing | undefined {
  const { parts, header, signed, manifest } = bundle
  const { checkpoint, heads } = signed
  if (checkpoint === undefined || heads === undefined) return undefined
  const { proven, faults } = provenSeals(parts, checkpoint, manifest.predicate.seals, cryptography)
  const keys = signed.keys.map(({ key }) => key)
  const sealed = { header, proven, heads, keys, lastIndex: lastIndexIn(parts) }
  const witnessing = witnessOf(sealed, seals, witnesses, cryptography)
  return { ...witnessing, faults: [...faults, ...witnessing.faults] }
}

const emptyReport: BundleReport = {
  verdict: 'not_whole',
  faults: [],
  logId: null,
  taskId: null,
  events: 0,
  disclosed: 0,
  erased: 0,
  missingKey: 0,
  withheld: {},
  disclosedLater: 0,
  blobs: { kept: 0, changed: 0, erased: 0, missing: 0 },
  signedBy: null,
  fingerprint: null,
  treeSize: null,
  isReplacement: false,
  isWitnessed: false,
  seals: {
    given: 0,
    compared: 0,
    older: 0,
    newer: 0,
    ofOtherEpochs: 0,
    ofOtherLogs: 0,
    unreadable: 0,
    newestCompared: 0,
  },
  cosignatures: [],
}

interface Found {
  readonly signed?: Signed | undefined
  readonly signer?: Signer | undefined
  readonly manifest?: Manifest | undefined
  readonly held?: Witnessing | undefined
}

function reportOf(
  { header, streams }: Parts,
  faults: readonly BundleFault[],
  { signed, signer, manifest, held }: Found,
): BundleReport {
  const events = [...streams.values()].flat()
  const withheld: Partial<Record<ContentCategory, number>> = {}
  for (const { content } of events)
    if (content.kind === 'withheld') withheld[content.category] = (withheld[content.category] ?? 0) + 1
  const count = (wanted: string) => events.filter(({ content: { kind } }) => kind === wanted).length
  const shown = events.filter(({ content: { kind } }) => kind === 'disclosed')
  const left = manifest?.predicate.withheld ?? []
  const blobs = { ...emptyReport.blobs }
  for (const { state } of manifest?.predicate.blobs ?? []) blobs[state] += 1
  return {
    ...emptyReport,
    ...signer,
    ...(held && {
      seals: held.seals,
      cosignatures: held.cosignatures,
      isWitnessed: held.isWitnessed && faults.length === 0,
    }),
    faults,
    logId: header?.logId ?? null,
    taskId: header?.taskId ?? null,
    events: events.length,
    disclosed: shown.length,
    erased: count('erased'),
    missingKey: count('missing_key'),
    withheld,
    disclosedLater: shown.filter(({ event }) => withheldAs(event.type, left) !== undefined).length,
    blobs,
    treeSize: signed?.checkpoint?.size ?? null,
  }
}
