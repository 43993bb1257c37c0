/** The fingerprint of a key: short enough for people to compare, and long enough that nobody finds another key that has it. */
import { hexOf } from './bundleHashes.ts'
import { parseVerifierKey } from './checkpoint.ts'
import type { Sha256 } from './merkleTree.ts'

/** 128 bits of a SHA-256. */
const fingerprintBytes = 16

/** The first 16 bytes of the SHA-256 over the 32 bytes of a public key, in hex, in groups of four: `39a8 1f22 ...`. */
export function keyFingerprint(sha256: Sha256, publicKey: Uint8Array): string {
  return grouped(hexOf(sha256(publicKey).slice(0, fingerprintBytes)))
}

/** The fingerprint of a verifier key that is given as text; `undefined` when the text is no such key. */
export function fingerprintOf(sha256: Sha256, verifierKey: string): string | undefined {
  const key = parseVerifierKey(sha256, verifierKey)
  return key && keyFingerprint(sha256, key.publicKey)
}

/** A fingerprint that a person typed, with or without its spaces, as `keyFingerprint` writes it; `undefined` when it is none. */
export function parseFingerprint(text: string): string | undefined {
  const hex = text.replaceAll(/\s/g, '').toLowerCase()
  return /^[0-9a-f]{32}$/.test(hex) ? grouped(hex) : undefined
}

/** The beginning of a fingerprint, for places without room. It names a key and does not prove it. */
export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, 9)
}

function grouped(hex: string): string {
  return hex.replaceAll(/.{4}(?=.)/g, '$& ')
}
