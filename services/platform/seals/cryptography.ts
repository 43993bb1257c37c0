/** Hashing and Ed25519 by Node, for what `domain/proof` computes. */
import { createHash, createPublicKey, verify } from 'node:crypto'
import type { Cryptography } from '#domain/proof/bundleHashes.ts'

/** What stands before the 32 bytes of an Ed25519 key in its DER form. */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')

export const cryptography: Cryptography = {
  sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
  utf8: (text) => new TextEncoder().encode(text),
  isSignedBy: (publicKey, message, signature) =>
    verify(
      null,
      message,
      createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: 'der', type: 'spki' }),
      signature,
    ),
}

/** The 32 bytes of an Ed25519 key that `createPublicKey` gives. */
export function rawPublicKey(key: ReturnType<typeof createPublicKey>): Uint8Array {
  return new Uint8Array(key.export({ format: 'der', type: 'spki' }).subarray(spkiHead.length))
}
