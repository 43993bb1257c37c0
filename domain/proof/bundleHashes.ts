/** The exact bytes that are hashed and signed in an audit bundle. */
import { canonicalJson } from '../kernel/canonicalJson.ts'
import type { BundleHeader, Envelope } from './auditBundle.schema.ts'
import type { Hash, Sha256 } from './merkleTree.ts'

/** The name under which a log signs, unique to each log and epoch. */
export function originOf({ logId, epoch }: Pick<BundleHeader, 'logId' | 'epoch'>): string {
  return `flightdeck.dev/log/${logId}/${epoch}`
}

/** The cryptographic functions that checks need. They are passed in, because they differ between Node and browsers. */
export interface Cryptography {
  readonly sha256: Sha256
  readonly utf8: (text: string) => Uint8Array
  /** Decodes UTF-8; `undefined` when the bytes are not valid UTF-8. */
  readonly text: (bytes: Uint8Array) => string | undefined
  /** Whether this Ed25519 key signed the message. */
  readonly isSignedBy: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean
}

/** The bytes that DSSE signs for a payload and its type (pre-authentication encoding, version 1). */
export function signedBytes(
  { utf8 }: Pick<Cryptography, 'utf8'>,
  payloadType: string,
  payload: Uint8Array,
): Uint8Array {
  const head = utf8(`DSSEv1 ${utf8(payloadType).length} ${payloadType} ${payload.length} `)
  const bytes = new Uint8Array(head.length + payload.length)
  bytes.set(head)
  bytes.set(payload, head.length)
  return bytes
}

/** The hash of an envelope, as specified in `docs/log-format.md`. */
export function envelopeHash({ sha256, utf8 }: Cryptography, { meta, ...event }: Envelope): string {
  const { hash: _hash, ...linked } = meta
  return hexOf(sha256(utf8(canonicalJson({ scheme: 1, ...event, meta: linked }))))
}

/** The leaf for an event in the log's Merkle tree: the bytes of the event's hash. */
export function leafOf(hash: string): Uint8Array {
  return bytesOfHex(hash)
}

export function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length >> 1)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16)
  return bytes
}

const byteInHex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function hexOf(bytes: Hash): string {
  let hex = ''
  for (const byte of bytes) hex += byteInHex[byte]
  return hex
}
