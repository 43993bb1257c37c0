/** The keys of a log: their fingerprints, and their links. A link is a note in which a key names and signs its successor. */
import { fromBase64, toBase64 } from '../kernel/base64.ts'
import type { LogIdentity } from '../log.ts'
import { originOf, hexOf, type Cryptography } from './bundleHashes.ts'
import { parseNote, verifierKey, writeNote, parseVerifierKey } from './checkpoint.ts'
import type { Sha256 } from './merkleTree.ts'

/** The fingerprint has 128 bits of a SHA-256. */
const fingerprintBytes = 16

/** The first 16 bytes of the SHA-256 over the 32 bytes of a public key, in hex, in groups of four: `39a8 1f22 ...`. */
export function keyFingerprint(sha256: Sha256, publicKey: Uint8Array): string {
  return grouped(hexOf(sha256(publicKey).slice(0, fingerprintBytes)))
}

/** The fingerprint of a verifier key, given as text; `undefined` when the text is not a verifier key. */
export function fingerprintOf(sha256: Sha256, verifierKey: string): string | undefined {
  const key = parseVerifierKey(sha256, verifierKey)
  return key && keyFingerprint(sha256, key.publicKey)
}

/** Normalizes a typed fingerprint, with or without spaces, to the form of `keyFingerprint`; `undefined` when it is invalid. */
export function parseFingerprint(text: string): string | undefined {
  const hex = text.replaceAll(/\s/g, '').toLowerCase()
  return /^[0-9a-f]{32}$/.test(hex) ? grouped(hex) : undefined
}

function grouped(hex: string): string {
  return hex.replaceAll(/.{4}(?=.)/g, '$& ')
}

/** The text that the old key signs in a link. It contains the bytes of the next key and no name, since a key's name differs in each epoch. */
const textOf = (logId: string, next: Uint8Array): string =>
  `flightdeck.dev/log/${logId}/next-key\n${toBase64(next)}\n`

interface OldKey {
  /** The public key, which has 32 bytes. */
  readonly publicKey: Uint8Array
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** Writes a signed note in which the old key names its successor. */
export function writeKeyLink(
  { sha256, utf8 }: Pick<Cryptography, 'sha256' | 'utf8'>,
  identity: LogIdentity,
  { publicKey, sign }: OldKey,
  next: Uint8Array,
): string {
  const { name, keyId } = verifierKey(sha256, originOf(identity), publicKey)
  const text = textOf(identity.logId, next)
  return writeNote({ text, signatures: [{ name, keyId, signature: sign(utf8(text)) }] })
}

/** `keys`, and their successors that `links` prove, also over several links. Links of other logs and links signed by other keys are ignored. */
export function withLinkedKeys(
  cryptography: Cryptography,
  logId: string,
  keys: readonly Uint8Array[],
  links: readonly string[],
): readonly Uint8Array[] {
  const known = [...keys]
  // The loop also visits keys that are added while it runs.
  for (const key of known)
    for (const link of links) {
      const next = nextKeyIn(cryptography, logId, key, link)
      if (next !== undefined && !known.some((each) => each.join() === next.join())) known.push(next)
    }
  return known
}

function nextKeyIn(
  { sha256, utf8, isSignedBy }: Cryptography,
  logId: string,
  key: Uint8Array,
  link: string,
): Uint8Array | undefined {
  const note = parseNote(link)
  const next = fromBase64(note?.text.split('\n')[1] ?? '')
  if (note === undefined || next?.length !== 32 || note.text !== textOf(logId, next)) return undefined
  const isSigned = note.signatures.some(
    ({ name, keyId, signature }) =>
      verifierKey(sha256, name, key).keyId.join() === keyId.join() &&
      isSignedBy(key, utf8(note.text), signature),
  )
  return isSigned ? next : undefined
}
