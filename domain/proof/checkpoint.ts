/** Signed tree heads and inclusion proofs as text, in the formats of c2sp.org: signed-note, tlog-checkpoint and tlog-proof (v1). */
import { fromBase64, toBase64 } from '../kernel/base64.ts'
import type { Hash, Sha256, TreeHead } from './merkleTree.ts'
import type { Cryptography } from './bundleHashes.ts'

/** The size and root of a log's tree, and the name of the log. */
export interface Checkpoint extends TreeHead {
  /** The name of the log, which no other log may have. */
  readonly origin: string
}

interface NoteSignature {
  /** The name of the key. */
  readonly name: string
  /** Four bytes that distinguish keys with the same name. */
  readonly keyId: Uint8Array
  readonly signature: Uint8Array
}

interface SignedNote {
  /** The signed text, which ends with a newline. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** A public Ed25519 key, with a name. */
export interface VerifierKey {
  readonly name: string
  readonly keyId: Uint8Array
  /** The key, which has 32 bytes. */
  readonly publicKey: Uint8Array
}

interface InclusionProof {
  readonly index: number
  readonly proof: readonly Hash[]
  /** The signed checkpoint with the root to which the proof leads. */
  readonly note: string
}

const hashBytes = 32
/** The number for Ed25519 in the list of signature types. */
const ed25519 = 1
const maxSignatures = 64
const dash = '\u2014'
const proofHeader = 'c2sp.org/tlog-proof@v1'
/** Matches a number that JavaScript can represent exactly, which is enough for the size of any log. */
const count = /^(0|[1-9]\d{0,14})$/

/** The text of a checkpoint, which is signed. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** Parses the text of a checkpoint; `undefined` when the text is not a checkpoint. Texts with extension lines, which we never write, are refused. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', root = '', end, ...more] = text.split('\n')
  const hash = fromBase64(root)
  if (origin === '' || !count.test(size) || hash?.length !== hashBytes) return undefined
  return end === '' && more.length === 0 ? { origin, size: Number(size), root: hash } : undefined
}

export function writeNote({ text, signatures }: SignedNote): string {
  const lines = signatures.map(
    ({ name, keyId, signature }) => `${dash} ${name} ${toBase64(joined(keyId, signature))}\n`,
  )
  return `${text}\n${lines.join('')}`
}

/** Parses a signed note; `undefined` when it is not a note. Do not trust the result before checking a signature. */
export function parseNote(note: string): SignedNote | undefined {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n') || !isText(note)) return undefined
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > maxSignatures) return undefined
  const signatures = lines.map(parseSignature)
  return signatures.every((signature) => signature !== undefined)
    ? { text: note.slice(0, end + 1), signatures }
    : undefined
}

/** Makes a verifier key; `type` is the type of its signatures. Throws a RangeError for an invalid name or key length. */
export function verifierKey(
  sha256: Sha256,
  name: string,
  publicKey: Uint8Array,
  type: number = ed25519,
): VerifierKey {
  if (!isName(name)) throw new RangeError('The name of a key is ASCII, without spaces and plus signs.')
  if (publicKey.length !== 32) throw new RangeError('An Ed25519 public key has 32 bytes.')
  const head = Uint8Array.from(`${name}\n`, (letter) => letter.charCodeAt(0))
  const keyId = sha256(joined(head, Uint8Array.of(type), publicKey)).slice(0, 4)
  return { name, keyId, publicKey }
}

/** The key as text: `<name>+<key id>+<key>`. */
export function writeVerifierKey({ name, keyId, publicKey }: VerifierKey): string {
  return `${name}+${hexOf(keyId)}+${toBase64(joined(Uint8Array.of(ed25519), publicKey))}`
}

/** Parses the text of a key; `undefined` when it is not a key of this type, or when its id does not match the key. */
export function parseVerifierKey(
  sha256: Sha256,
  text: string,
  type: number = ed25519,
): VerifierKey | undefined {
  // The base64 text may contain plus signs, but the name may not.
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? []
  const bytes = fromBase64(encoded)
  if (!isName(name) || bytes?.length !== 33 || bytes[0] !== type) return undefined
  const key = verifierKey(sha256, name, bytes.slice(1), type)
  return hexOf(key.keyId) === id ? key : undefined
}

/** The signatures of a note that claim to be made with this key. They are not checked. */
export function signaturesBy(
  { signatures }: SignedNote,
  { name, keyId }: VerifierKey,
): readonly NoteSignature[] {
  return signatures.filter((each) => each.name === name && hexOf(each.keyId) === hexOf(keyId))
}

export function writeInclusionProof({ index, proof, note }: InclusionProof): string {
  return [proofHeader, `index ${index}`, ...proof.map(toBase64), '', note].join('\n')
}

/** Parses an inclusion proof; `undefined` when the text is not an inclusion proof. The line `extra`, which no signature covers, is ignored. */
export function parseInclusionProof(text: string): InclusionProof | undefined {
  const start = text.indexOf('\n\n')
  if (start < 0) return undefined
  const [header, ...lines] = text.slice(0, start).split('\n')
  const [index = '', ...hashes] = lines[0]?.startsWith('extra ') ? lines.slice(1) : lines
  const [, number = ''] = /^index (.+)$/.exec(index) ?? []
  const proof = hashes.map(fromBase64)
  if (header !== proofHeader || !count.test(number)) return undefined
  return proof.every((hash): hash is Hash => hash?.length === hashBytes)
    ? { index: Number(number), proof, note: text.slice(start + 2) }
    : undefined
}

function parseSignature(line: string): NoteSignature | undefined {
  const [mark, name = '', encoded = '', ...more] = line.split(' ')
  const bytes = fromBase64(encoded)
  if (mark !== dash || !isName(name) || bytes === undefined || bytes.length < 5 || more.length > 0)
    return undefined
  return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) }
}

/** Whether a key may have this name. We allow only ASCII, although signed notes allow more, so that a name has only one form in bytes. */
function isName(name: string): boolean {
  return /^[!-*,-~]+$/.test(name)
}

/** Whether the text has no characters below U+0020 except newlines, and no lone surrogates. */
function isText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 && code !== 0x0a) return false
  }
  return !/\p{Surrogate}/u.test(text)
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const cosignatureType = 4
const timeBytes = 8

/** Parses the text of a witness's key; `undefined` when the text is not a witness's key. */
export function parseWitnessKey(
  { sha256 }: Pick<Cryptography, 'sha256'>,
  text: string,
): VerifierKey | undefined {
  return parseVerifierKey(sha256, text, cosignatureType)
}

export interface Cosignature {
  readonly witness: string
  /** The time of signing, in seconds since 1970. */
  readonly time: number
}

/**
 * The witness's signature on the note (c2sp.org/tlog-cosignature, version 1 with Ed25519); `undefined` when there is none, or when `note` is no note.
 * `forged`: the signature under the witness's key is invalid, or there are several.
 */
export function cosignatureBy(
  witness: VerifierKey,
  note: string,
  { utf8, isSignedBy }: Cryptography,
): Cosignature | 'forged' | undefined {
  const parsed = parseNote(note)
  const [first, ...more] = parsed === undefined ? [] : signaturesBy(parsed, witness)
  if (parsed === undefined || first === undefined) return undefined
  const { signature } = first
  if (more.length > 0 || signature.length !== timeBytes + 64) return 'forged'
  const { buffer, byteOffset } = signature
  const time = Number(new DataView(buffer, byteOffset, timeBytes).getBigUint64(0))
  const message = utf8(`cosignature/v1\ntime ${time}\n${parsed.text}`)
  return isSignedBy(witness.publicKey, message, signature.slice(timeBytes))
    ? { witness: witness.name, time }
    : 'forged'
}
