/** The fingerprint of a key: short enough for people to compare, and long enough that nobody can make another key with the same one. */
import { hexOf } from './bundleHashes.ts'
import { parseVerifierKey } from './checkpoint.ts'
import type { Sha256 } from './merkleTree.ts'

/** 128 bits of a SHA-256. */
const fingerprintBytes = 16

/** The first 16 bytes of the SHA-256 over the 32 bytes of a public key, in hex, in groups of four: `39a8 1f22 ...`. */
export function keyFingerprint(sha256: Sha256, publicKey: Uint8Array): string {
  return grouped(hexOf(sha256(publicKey).slice(0, fingerprintBytes)))
}

/** The fingerprint of a verifier key in text form; `undefined` when the text is not such a key. */
export function fingerprintOf(sha256: Sha256, verifierKey: string): string | undefined {
  const key = parseVerifierKey(sha256, verifierKey)
  return key && keyFingerprint(sha256, key.publicKey)
}

/** A typed fingerprint, with or without spaces, in the form of `keyFingerprint`; `undefined` when it is invalid. */
export function parseFingerprint(text: string): string | undefined {
  const hex = text.replaceAll(/\s/g, '').toLowerCase()
  return /^[0-9a-f]{32}$/.test(hex) ? grouped(hex) : undefined
}

function grouped(hex: string): string {
  return hex.replaceAll(/.{4}(?=.)/g, '$& ')
}
