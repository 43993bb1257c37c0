/** Implements the hashing and Ed25519 functions that `domain/proof` needs, with Node. */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { Cryptography } from '#domain/proof/bundleHashes.ts'

/** The bytes before the 32 bytes of an Ed25519 key in its DER form. */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const cryptography: Cryptography = {
  sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
  utf8: (text) => encoder.encode(text),
  text(bytes) {
    try {
      return decoder.decode(bytes)
    } catch {
      return undefined
    }
  },
  isSignedBy: (publicKey, message, signature) => verify(null, message, keyObjectOf(publicKey), signature),
}

/** Parsed keys, cached because many seals are checked with the same key. */
const keyObjects = new WeakMap<Uint8Array, KeyObject>()

function keyObjectOf(publicKey: Uint8Array): KeyObject {
  const known = keyObjects.get(publicKey)
  if (known !== undefined) return known
  const key = createPublicKey({
    key: Buffer.concat([spkiHead, publicKey]),
    format: 'der',
    type: 'spki',
  })
  keyObjects.set(publicKey, key)
  return key
}

/** The raw 32 bytes of an Ed25519 key from `createPublicKey`. */
export function rawPublicKey(key: ReturnType<typeof createPublicKey>): Uint8Array {
  return new Uint8Array(key.export({ format: 'der', type: 'spki' }).subarray(spkiHead.length))
}
