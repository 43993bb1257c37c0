/** Checks an audit bundle in the browser, with the verifier of `domain/proof`. Nothing of it leaves the page. */
import type { Cryptography } from '#domain/proof/bundleHashes.ts'
import { verifyBundle, type BundleReport } from '#domain/proof/verifyBundle.ts'
import { sha256 } from './sha256.ts'

/** This browser cannot check signatures: it does not know Ed25519, or the page did not come by HTTPS. */
export class NoSignatures extends Error {
  override readonly name = 'NoSignatures'
}

/** A bundle names a few keys, and has a few signatures of each: more rounds than this no bundle takes. */
const roundsAtMost = 20

/**
 * Checks the lines of a bundle against the keys that the reader knows. The browser checks signatures later than they are asked for, so
 * the check is repeated with the answers until it asks for none that is new. Throws `NoSignatures`.
 */
export async function checkBundle(lines: readonly string[], keys: readonly string[]): Promise<BundleReport> {
  const answers = new Map<string, boolean>()
  for (let round = 0; round < roundsAtMost; round += 1) {
    const asked = new Map<string, Promise<boolean>>()
    const report = verifyBundle(lines, cryptographyOf(answers, asked), { keys })
    if (asked.size === 0) return report
    for (const [name, answer] of asked) answers.set(name, await answer)
  }
  throw new Error('The bundle asks for too many signatures.')
}

const encoder = new TextEncoder()

function cryptographyOf(
  answers: ReadonlyMap<string, boolean>,
  asked: Map<string, Promise<boolean>>,
): Cryptography {
  return {
    sha256,
    utf8: (text) => encoder.encode(text),
    text: textOf,
    isSignedBy(publicKey, message, signature) {
      const name = [publicKey, sha256(message), signature].map((bytes) => bytes.join(' ')).join('/')
      const known = answers.get(name)
      if (known === undefined) asked.set(name, isSigned(publicKey, message, signature))
      return known ?? false
    },
  }
}

/** The text that bytes are in UTF-8; `undefined` when they are none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

async function isSigned(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto.subtle
  if (subtle === undefined) throw new NoSignatures('This page did not come by HTTPS.')
  const key = await subtle
    .importKey('raw', new Uint8Array(publicKey), 'Ed25519', false, ['verify'])
    .catch((fault: unknown) => {
      if (fault instanceof DOMException && fault.name === 'NotSupportedError')
        throw new NoSignatures('This browser does not know Ed25519.')
      // These 32 bytes are no key.
      return null
    })
  return key !== null && subtle.verify('Ed25519', key, new Uint8Array(signature), new Uint8Array(message))
}
