/** Checks the seals that a bundle lists, and compares the bundle with seals that the reader got from elsewhere. */
import { fromBase64 } from '../kernel/base64.ts'
import { unambiguousJson } from '../kernel/unambiguousJson.ts'
import type { LogIdentity } from '../log.ts'
import type { BundleHeader, ListedSeals } from './auditBundle.schema.ts'
import { hexOf, type Cryptography } from './bundleHashes.ts'
import type { BundleFault, Parts } from './bundleParts.ts'
import {
  parseCheckpoint,
  parseInclusionProof,
  parseNote,
  verifierKey,
  cosignatureBy,
  type Checkpoint,
  type VerifierKey,
  type Cosignature,
} from './checkpoint.ts'
import { isSame, verifyConsistency, type Hash } from './merkleTree.ts'
import { headsOriginOf, identityIn, signedCheckpoint } from './sealNotes.ts'

/** The roots of the log's tree at earlier sizes, as far as a bundle proves them. */
export interface ProvenSeals extends ListedSeals {
  readonly checkpoint: Checkpoint
  /** The proven roots by the size of the tree, including the root in the checkpoint. */
  readonly roots: ReadonlyMap<number, Hash>
}

/** Checks the bundle's records of the kind `seal`, and returns the roots that they prove. */
export function provenSeals(
  { seals }: Pick<Parts, 'seals'>,
  checkpoint: Checkpoint,
  listed: ListedSeals,
  { sha256 }: Cryptography,
): { readonly proven: ProvenSeals; readonly faults: readonly BundleFault[] } {
  const roots = new Map<number, Hash>([[checkpoint.size, checkpoint.root]])
  const faults: BundleFault[] = []
  const fault = (kind: BundleFault['kind'], size: number, why: string) =>
    faults.push({ kind, where: `seal ${size}`, why })
  const sizes = new Set([...listed.sizes, ...listed.asked])
  const seen = new Set<number>()
  for (const { size, root, proof } of seals) {
    const [hash, path] = [fromBase64(root), proof.map(fromBase64)]
    const isPath = path.every((each): each is Hash => each?.length === 32)
    if (!sizes.has(size)) fault('added', size, 'The manifest does not name it.')
    else if (seen.has(size)) fault('added', size, 'It stands there twice.')
    else if (
      hash !== undefined &&
      isPath &&
      verifyConsistency(sha256, { size, root: hash }, checkpoint, path)
    )
      roots.set(size, hash)
    else fault('changed', size, 'Its proof does not lead to the signed checkpoint.')
    seen.add(size)
  }
  for (const size of sizes)
    if (!seen.has(size)) fault('removed', size, 'The manifest says that it is in the bundle.')
  return { proven: { ...listed, checkpoint, roots }, faults }
}

/** The root in the log's seal of this size, or why the bundle does not have the root. */
export function rootIn(
  { checkpoint, roots, from, sizes }: ProvenSeals,
  size: number,
): Hash | 'no_seal' | 'older' | 'newer' {
  if (size > checkpoint.size) return 'newer'
  const isListed = size === checkpoint.size || size < from || sizes.includes(size)
  return isListed ? (roots.get(size) ?? 'older') : 'no_seal'
}

/** How many seals the reader gave, and the results of comparing them. */
export interface GivenSeals {
  readonly given: number
  readonly compared: number
  /** The number of seals that were not compared, because the bundle lists no seals as old as these. */
  readonly older: number
  /** The number of seals that are newer than the bundle. */
  readonly newer: number
  readonly ofOtherEpochs: number
  readonly ofOtherLogs: number
  /** How many of the reader's lines are not seals. */
  readonly unreadable: number
  /** The size of the newest seal that was compared; 0 when no seal was compared. */
  readonly newestCompared: number
}

export interface Witnessing {
  readonly seals: GivenSeals
  /**
   * Whether the bundle agrees with a seal from elsewhere that covers all events of the bundle. If the reader named witnesses, one of them must have
   * signed the seal.
   */
  readonly isWitnessed: boolean
  readonly cosignatures: readonly Cosignature[]
  readonly faults: readonly BundleFault[]
}

/** The parts of a bundle with which seals are compared. */
export interface SealedBundle {
  readonly header: BundleHeader
  readonly proven: ProvenSeals
  readonly heads: Checkpoint
  /** The keys in the header. The manifest covers the header, so whoever trusts the manifest's key can trust these keys. */
  readonly keys: readonly VerifierKey[]
  /** The index in the log of the last event in the bundle. */
  readonly lastIndex: number
}

/** The index in the log of the last event for which a bundle has a proof. */
export function lastIndexIn({ proofs }: Pick<Parts, 'proofs'>): number {
  return proofs.reduce((last, { kind, proof }) => {
    const index = kind === 'proof' ? parseInclusionProof(proof)?.index : undefined
    return Math.max(last, index ?? -1)
  }, -1)
}

interface OutsideSeal {
  readonly note: string
  /** The content of the note, which must not be trusted before a signature was checked. */
  readonly claimed: Checkpoint
  readonly heads: string | undefined
  readonly revision: number | undefined
}

/** Parses a line with a seal; `undefined` when the line is not a seal. */
export function sealIn(line: string): OutsideSeal | undefined {
  const json = unambiguousJson(line)
  // The header of a bundle also has a checkpoint, but does not count as a seal, because a bundle must not confirm itself.
  if (typeof json !== 'object' || json === null || !('checkpoint' in json) || 'kind' in json) return undefined
  const { checkpoint: note } = json
  const claimed = typeof note === 'string' ? parseCheckpoint(parseNote(note)?.text ?? '') : undefined
  if (typeof note !== 'string' || claimed === undefined) return undefined
  // If `heads` is not a text, it counts as an empty text, for which no signature is valid.
  const heads = 'heads' in json ? (typeof json.heads === 'string' ? json.heads : '') : undefined
  const revision = 'revision' in json && typeof json.revision === 'number' ? json.revision : undefined
  return { note, claimed, heads, revision }
}

const twoHistories = 'The log has two histories under one key.'

/** Compares a bundle with seals from elsewhere, given one on each line. */
export function witnessOf(
  bundle: SealedBundle,
  lines: Iterable<string>,
  witnesses: readonly VerifierKey[],
  cryptography: Cryptography,
): Witnessing {
  const { header, proven, lastIndex } = bundle
  const counts = {
    given: 0,
    compared: 0,
    older: 0,
    newer: 0,
    ofOtherEpochs: 0,
    ofOtherLogs: 0,
    unreadable: 0,
  }
  const found = foundFaults()
  const around = neighbours(proven.checkpoint.size)
  const roots = new Map<number, Hash>()
  const unknown = new Map<string, number>()
  const cosigned = cosigners(witnesses, cryptography)
  let newestCompared = 0
  for (const line of lines) {
    if (line === '') continue
    const seal = sealIn(line)
    counts[seal === undefined ? 'unreadable' : 'given'] += 1
    if (seal === undefined) continue
    const { claimed, revision } = seal
    const identity = identityIn(claimed.origin)
    if (identity?.logId !== header.logId) {
      counts.ofOtherLogs += 1
      continue
    }
    const signed = signedSeal(seal, identity, bundle, cryptography)
    if (typeof signed === 'string') {
      unknown.set(signed, (unknown.get(signed) ?? 0) + 1)
      continue
    }
    if (!signed.areHeadsSigned)
      found.add('unsigned', `seal ${claimed.size}`, 'No key of the log signed its `heads`.')
    if (identity.epoch !== header.epoch) {
      counts.ofOtherEpochs += 1
      continue
    }
    around.add(claimed.size, revision)
    const before = roots.get(claimed.size) ?? claimed.root
    roots.set(claimed.size, before)
    if (!isSame(before, claimed.root))
      found.add('changed', `seal ${claimed.size}`, `Two given seals of this size differ. ${twoHistories}`)
    const ours = rootIn(proven, claimed.size)
    counts[ours === 'older' || ours === 'newer' ? ours : 'compared'] += 1
    const why = contradictionIn(claimed, signed.heads, ours, bundle)
    if (why !== undefined) found.add('changed', `seal ${claimed.size}`, `${why} ${twoHistories}`)
    if (typeof ours === 'string') continue
    newestCompared = Math.max(newestCompared, claimed.size)
    for (const name of cosigned.add(seal))
      found.add('unsigned', `seal ${claimed.size}`, `The witness ${name} did not sign it as it says.`)
  }
  if (around.areConsecutive())
    found.add(
      'removed',
      `seal ${proven.checkpoint.size}`,
      `The given seals go past it without it. ${twoHistories}`,
    )
  for (const [key, count] of unknown)
    found.add('unsigned', 'seals', `${count} of them carry this log's id and are signed by ${key}.`)
  const newest = witnesses.length === 0 ? newestCompared : cosigned.newest()
  return {
    seals: { ...counts, newestCompared },
    isWitnessed: newest > lastIndex && found.all().length === 0,
    cosignatures: cosigned.all(),
    faults: found.all(),
  }
}

/** Collects faults without duplicates. */
function foundFaults() {
  const faults = new Map<string, BundleFault>()
  return {
    add: (kind: BundleFault['kind'], where: string, why: string) =>
      faults.set(`${where} ${why}`, { kind, where, why }),
    all: () => [...faults.values()],
  }
}

/** The heads of a seal, and whether they are signed; or, if no known key signed the seal, a text that says who signed it. */
function signedSeal(
  { note, heads: headsNote, claimed }: OutsideSeal,
  identity: LogIdentity,
  bundle: SealedBundle,
  cryptography: Cryptography,
): { readonly heads: Checkpoint | undefined; readonly areHeadsSigned: boolean } | string {
  // A log uses the same key under a different name in each epoch, so each key gets the name for the epoch of the seal.
  const keys = bundle.keys.map(({ publicKey }) => verifierKey(cryptography.sha256, claimed.origin, publicKey))
  if (signedCheckpoint(cryptography, note, keys) === undefined) {
    const ids = (parseNote(note)?.signatures ?? []).filter(({ name }) => name === claimed.origin)
    return ids.length === 0
      ? 'nobody'
      : `a key that is not known, with the key id ${ids.map(({ keyId }) => hexOf(keyId)).join()}`
  }
  if (headsNote === undefined) return { heads: undefined, areHeadsSigned: true }
  const heads = signedCheckpoint(cryptography, headsNote, keys)?.checkpoint
  const isOfSeal = heads?.origin === headsOriginOf(identity, claimed.size)
  return { heads: isOfSeal ? heads : undefined, areHeadsSigned: isOfSeal }
}

function contradictionIn(
  claimed: Checkpoint,
  heads: Checkpoint | undefined,
  ours: ReturnType<typeof rootIn>,
  { proven, heads: ownHeads }: SealedBundle,
): string | undefined {
  if (ours === 'older' || ours === 'newer') return undefined
  if (ours === 'no_seal')
    return `The bundle lists all seals from ${proven.from} events on, and has none of this size.`
  if (!isSame(ours, claimed.root)) return 'A seal that was kept elsewhere has another root.'
  const isOwn = claimed.size === proven.checkpoint.size
  return isOwn && heads !== undefined && !isSame(heads.root, ownHeads.root)
    ? 'A seal that was kept elsewhere has other ends of streams.'
    : undefined
}

/** Collects each witness's last added cosignature, and the size of the largest seal with a cosignature. */
function cosigners(witnesses: readonly VerifierKey[], cryptography: Cryptography) {
  const cosignatures = new Map<string, Cosignature>()
  let newest = 0
  return {
    /** Adds the cosignatures of a seal. Returns the names of the witnesses whose signature on the seal is forged. */
    add({ note, claimed }: OutsideSeal): readonly string[] {
      return witnesses.flatMap((witness) => {
        const cosignature = cosignatureBy(witness, note, cryptography)
        if (cosignature === 'forged') return [witness.name]
        if (cosignature === undefined) return []
        cosignatures.set(witness.name, cosignature)
        newest = Math.max(newest, claimed.size)
        return []
      })
    },
    all: () => [...cosignatures.values()],
    newest: () => newest,
  }
}

/**
 * Finds the seals just before and just after the bundle's own seal, which has the size `size`. Seals have successive revisions. If the two found
 * seals have successive revisions too, the log never published the bundle's own seal.
 */
function neighbours(size: number) {
  let before: { size: number; revision: number } = { size: 0, revision: -1 }
  let after: { size: number; revision: number } | undefined
  let isFirstLarger = false
  return {
    add(other: number, revision: number | undefined): void {
      if (revision === undefined) return
      if (other < size && other > before.size) before = { size: other, revision }
      if (other > size && other < (after?.size ?? Infinity)) after = { size: other, revision }
      isFirstLarger ||= other > size && revision === 0
    },
    areConsecutive: () => isFirstLarger || (after !== undefined && after.revision === before.revision + 1),
  }
}
