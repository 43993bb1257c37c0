/** Checks a bundle's proofs: the signatures of the header's checkpoints, how the reader knows the keys, and the proofs for events. */
import type { BundleHeader, Envelope } from './auditBundle.schema.ts'
import { leafOf, originOf, type Cryptography } from './bundleHashes.ts'
import type { BundleFault, ListedKey, Parts, Signed } from './bundleParts.ts'
import {
  parseInclusionProof,
  parseNote,
  parseVerifierKey,
  type Checkpoint,
  type VerifierKey,
} from './checkpoint.ts'
import { fingerprintOf, parseFingerprint, withLinkedKeys } from './logKeys.ts'
import { isSame, leafHash, verifyInclusion } from './merkleTree.ts'
import { headLeaf, headsOriginOf, signedCheckpoint } from './sealNotes.ts'

/** The keys of the header, and the checkpoints that were signed with one of them. */
export function signedHeader(header: BundleHeader, cryptography: Cryptography): Signed {
  const keys = header.keys.flatMap((text): readonly ListedKey[] => {
    const key = parseVerifierKey(cryptography.sha256, text)
    return key === undefined ? [] : [{ text, key }]
  })
  const verifiers = keys.map(({ key }) => key)
  const signedAs = (note: string, origin: string, by: readonly VerifierKey[]) => {
    const signed = signedCheckpoint(cryptography, note, by)
    return signed?.checkpoint.origin === origin ? signed : undefined
  }
  const log = signedAs(header.checkpoint, originOf(header), verifiers)
  const heads = log && signedAs(header.heads, headsOriginOf(header, log.checkpoint.size), [log.key])
  return { keys, checkpoint: log?.checkpoint, heads: heads?.checkpoint }
}

/** How the reader knows a key: `pinned` if the reader named it, `replacement` if it is the successor of a key that the reader named. */
export type Known = 'pinned' | 'replacement'

/**
 * How the reader knows a key; `undefined` for an unknown key. `trusted` has the keys that the reader named, as verifier keys or fingerprints. Keys
 * are compared by their bytes, because their names differ in each epoch.
 */
export function howKnown(
  header: BundleHeader,
  { key }: ListedKey,
  trusted: readonly string[],
  cryptography: Cryptography,
): Known | undefined {
  const { sha256 } = cryptography
  const given = trusted.flatMap((text) => {
    const fingerprint = parseFingerprint(text)
    const texts = fingerprint === undefined ? [text] : header.keys
    return texts.flatMap((each) =>
      fingerprint === undefined || fingerprintOf(sha256, each) === fingerprint
        ? (parseVerifierKey(sha256, each)?.publicKey ?? [])
        : [],
    )
  })
  const isIn = (keys: readonly Uint8Array[]) => keys.some((each) => isSame(each, key.publicKey))
  if (isIn(given)) return 'pinned'
  return isIn(withLinkedKeys(cryptography, header.logId, given, header.links)) ? 'replacement' : undefined
}

/** Checks the proofs: whether the signed trees contain each event that has a proof, and the last event of each stream. */
export function proofFaults(
  parts: Parts,
  signed: Signed,
  cryptography: Cryptography,
): readonly BundleFault[] {
  const { checkpoint, heads } = signed
  if (checkpoint === undefined)
    return [{ kind: 'unsigned', where: 'checkpoint', why: "No key of the header's signed this checkpoint." }]
  if (heads === undefined)
    return [
      { kind: 'unsigned', where: 'heads', why: "No key of the header's signed where its streams ended." },
    ]
  const faults: BundleFault[] = []
  const proven = { proof: new Map<string, number>(), end: new Map<string, number>() }
  for (const { kind, stream, revision, proof } of parts.proofs) {
    const event = parts.streams.get(stream)?.find(({ event }) => event.revision === revision)?.event
    const of = proofOf(kind, parts, { checkpoint, heads })
    const where = `${stream}@${revision}`
    const leaf = event && leafOfEvent(kind, event, cryptography)
    const found = leaf === undefined ? 'unproven' : proofState(proof, leaf, of, cryptography)
    if (found === 'unproven')
      faults.push({ kind: 'unproven', where, why: 'Its proof does not lead to the signed tree.' })
    else if (proven[kind].has(stream))
      faults.push({ kind: 'added', where, why: 'A stream has each of its two proofs once.' })
    else proven[kind].set(stream, revision)
    if (found === 'other_signatures') {
      const why = "The checkpoint of its proof has other signatures than the header's."
      faults.push({ kind: 'changed', where, why })
    }
  }
  return [...faults, ...unprovenEnds(parts, proven, faults)]
}

interface ProvenTree {
  readonly checkpoint: Checkpoint
  readonly note: string
}

function proofOf(
  kind: 'proof' | 'end',
  { header }: Parts,
  { checkpoint, heads }: { readonly checkpoint: Checkpoint; readonly heads: Checkpoint },
): ProvenTree {
  return kind === 'proof'
    ? { checkpoint, note: header?.checkpoint ?? '' }
    : { checkpoint: heads, note: header?.heads ?? '' }
}

function leafOfEvent(kind: 'proof' | 'end', event: Envelope, { utf8 }: Cryptography): Uint8Array {
  const { stream, revision, meta } = event
  return kind === 'proof' ? leafOf(meta.hash) : headLeaf({ utf8 }, { stream, revision, hash: meta.hash })
}

/**
 * The result of checking a proof. `other_signatures`: the proof is valid, but its checkpoint has other signatures than the checkpoint in the header.
 */
function proofState(
  text: string,
  leaf: Uint8Array,
  { checkpoint: { size, root }, note }: ProvenTree,
  { sha256 }: Cryptography,
): 'proven' | 'other_signatures' | 'unproven' {
  const parsed = parseInclusionProof(text)
  if (parsed === undefined || parseNote(parsed.note)?.text !== parseNote(note)?.text) return 'unproven'
  const { index, proof } = parsed
  if (!verifyInclusion(sha256, { leaf: leafHash(sha256, leaf), index, size, proof, root })) return 'unproven'
  return parsed.note === note ? 'proven' : 'other_signatures'
}

function unprovenEnds(
  { streams }: Parts,
  proven: Readonly<Record<'proof' | 'end', ReadonlyMap<string, number>>>,
  known: readonly BundleFault[],
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  for (const [stream, events] of streams) {
    const last = events.reduce((highest, { event }) => Math.max(highest, event.revision), -1)
    const where = `${stream}@${last}`
    if (known.some((fault) => fault.where === where)) continue
    if (proven.proof.get(stream) !== last)
      faults.push({ kind: 'unproven', where, why: 'There is no proof that it was in the log.' })
    else if (proven.end.get(stream) !== last)
      faults.push({ kind: 'unproven', where, why: 'There is no proof that its stream ended with it.' })
  }
  return faults
}
