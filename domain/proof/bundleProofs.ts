/** What the log's key vouches for in a bundle: its checkpoints, and the proofs that lead to them. */
import type { BundleHeader, Envelope } from './auditBundle.schema.ts'
import { leafOf, originOf, type Cryptography } from './bundleHashes.ts'
import type { BundleFault, Parts, Signed } from './bundleParts.ts'
import { cosignatureBy, type Cosignature } from './cosignatures.ts'
import { parseInclusionProof, parseVerifierKey, type Checkpoint, type VerifierKey } from './checkpoint.ts'
import { withLinkedKeys } from './keyLinks.ts'
import { isSame, leafHash, verifyInclusion } from './merkleTree.ts'
import { headLeaf, headsOriginOf, signedCheckpoint } from './sealNotes.ts'

/** Only a key signed that the reader does not know: its text, if the header names it. */
export interface UnknownKey {
  readonly unknown: string | null
}

/** The checkpoints that the header carries, if a key of the log signed them. */
export function signedHeader(
  header: BundleHeader,
  cryptography: Cryptography,
  trusted: readonly string[],
): Signed | UnknownKey | undefined {
  const parsed = (text: string) => parseVerifierKey(cryptography.sha256, text)
  // A log has the same key under another name in each of its epochs.
  const given = trusted.flatMap((text) => parsed(text)?.publicKey ?? [])
  const wanted = withLinkedKeys(cryptography, header.logId, given, header.links ?? []).map((key) =>
    key.join(),
  )
  const isKnown = (key: VerifierKey) => trusted.length === 0 || wanted.includes(key.publicKey.join())
  const listed = header.keys.flatMap((text) => {
    const key = parsed(text)
    return key === undefined ? [] : [{ text, key }]
  })
  const known = listed.filter(({ key }) => isKnown(key))
  const keys = new Map(known.map(({ text, key }) => [text, key]))
  const signer = listed.find(
    ({ key }) =>
      signedCheckpoint(cryptography, header.checkpoint, [key])?.checkpoint.origin === originOf(header),
  )
  if (known.length === 0 || (signer !== undefined && !keys.has(signer.text)))
    return { unknown: signer?.text ?? null }
  const log = signer && signedCheckpoint(cryptography, header.checkpoint, [signer.key])?.checkpoint
  if (signer === undefined || log === undefined) return undefined
  const heads = signedCheckpoint(cryptography, header.heads, [signer.key])?.checkpoint
  const isOfLog = heads?.origin === headsOriginOf(header, log.size)
  const isReplacement = trusted.length > 0 && !given.some((key) => key.join() === signer.key.publicKey.join())
  return { text: signer.text, isReplacement, keys, checkpoint: log, heads: isOfLog ? heads : undefined }
}

export interface Witnessing {
  /** One of the seals is this checkpoint, and has the signature of a witness where the reader named any. */
  readonly isWitnessed: boolean
  readonly cosignatures: readonly Cosignature[]
  readonly faults: readonly BundleFault[]
}

/**
 * What the seals that were kept elsewhere say of the checkpoint. One of the same size with another root contradicts it. Each line is JSON
 * with a signed `checkpoint`, as the log's own file of seals has them. `witnesses` are keys of witnesses that the reader knows.
 */
export function witnessOf(
  header: BundleHeader,
  { checkpoint, keys }: Signed,
  seals: Iterable<string>,
  witnesses: readonly VerifierKey[],
  cryptography: Cryptography,
): Witnessing {
  let isSealed = false
  const faults = new Map<string, BundleFault>()
  const cosignatures = new Map<string, Cosignature>()
  const fault = (kind: BundleFault['kind'], why: string) =>
    faults.set(why, { kind, where: 'checkpoint', why })
  for (const line of seals) {
    const note = noteIn(line)
    const seal =
      note === undefined ? undefined : signedCheckpoint(cryptography, note, [...keys.values()])?.checkpoint
    if (seal?.origin !== originOf(header) || seal.size !== checkpoint.size) continue
    if (!isSame(seal.root, checkpoint.root))
      fault('changed', 'A seal that was kept elsewhere says otherwise.')
    else isSealed = true
    for (const witness of witnesses) {
      const cosignature = cosignatureBy(witness, note ?? '', cryptography)
      if (cosignature === 'forged')
        fault('unsigned', `The witness ${witness.name} did not sign it as it says.`)
      else if (cosignature !== undefined) cosignatures.set(witness.name, cosignature)
    }
  }
  const isWitnessed = isSealed && faults.size === 0 && (witnesses.length === 0 || cosignatures.size > 0)
  return { isWitnessed, cosignatures: [...cosignatures.values()], faults: [...faults.values()] }
}

function noteIn(line: string): string | undefined {
  try {
    const json: unknown = JSON.parse(line)
    const isSeal = typeof json === 'object' && json !== null && 'checkpoint' in json
    return isSeal && typeof json.checkpoint === 'string' ? json.checkpoint : undefined
  } catch {
    return undefined
  }
}

/** Whether the signed trees have what the proofs are for, and each stream's last event among them. */
export function proofFaults(
  parts: Parts,
  signed: Signed,
  cryptography: Cryptography,
): readonly BundleFault[] {
  if (signed.heads === undefined)
    return [{ kind: 'unsigned', where: 'heads', why: "The log's key did not sign where its streams ended." }]
  const faults: BundleFault[] = []
  const proven = { proof: new Map<string, number>(), end: new Map<string, number>() }
  for (const { kind, stream, revision, proof } of parts.proofs) {
    const event = parts.streams.get(stream)?.find(({ event }) => event.revision === revision)?.event
    const of = proofOf(kind, parts, { ...signed, heads: signed.heads })
    if (event !== undefined && isProven(proof, leafOfEvent(kind, event, cryptography), of, cryptography)) {
      proven[kind].set(stream, Math.max(proven[kind].get(stream) ?? -1, revision))
    } else
      faults.push({
        kind: 'unproven',
        where: `${stream}@${revision}`,
        why: 'Its proof does not lead to the signed tree.',
      })
  }
  return [...faults, ...unprovenEnds(parts, proven, faults)]
}

interface ProvenTree {
  readonly checkpoint: Checkpoint
  readonly note: string | undefined
}

function proofOf(
  kind: 'proof' | 'end',
  { header }: Parts,
  { checkpoint, heads }: { readonly checkpoint: Checkpoint; readonly heads: Checkpoint },
): ProvenTree {
  return kind === 'proof'
    ? { checkpoint, note: header?.checkpoint }
    : { checkpoint: heads, note: header?.heads }
}

function leafOfEvent(kind: 'proof' | 'end', event: Envelope, { utf8 }: Cryptography): Uint8Array {
  const { stream, revision, meta } = event
  return kind === 'proof' ? leafOf(meta.hash) : headLeaf({ utf8 }, { stream, revision, hash: meta.hash })
}

function isProven(
  text: string,
  leaf: Uint8Array,
  { checkpoint: { size, root }, note }: ProvenTree,
  { sha256 }: Cryptography,
): boolean {
  const parsed = parseInclusionProof(text)
  if (parsed === undefined || parsed.note !== note) return false
  const { index, proof } = parsed
  return verifyInclusion(sha256, { leaf: leafHash(sha256, leaf), index, size, proof, root })
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
    if ((proven.proof.get(stream) ?? -1) < last)
      faults.push({ kind: 'unproven', where, why: 'There is no proof that it was in the log.' })
    else if (proven.end.get(stream) !== last)
      faults.push({ kind: 'unproven', where, why: 'There is no proof that its stream ended with it.' })
  }
  return faults
}
