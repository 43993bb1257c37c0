/** Checks an audit bundle in the browser, with the verifier of `domain/proof`. The bundle does not leave the page. */
import type { Cryptography } from '#domain/proof/bundleHashes.ts'
import { verifyBundle, type BundleReport } from '#domain/proof/verifyBundle.ts'
import { tryOr } from '../state/tryOr.ts'
import { sha256 } from './sha256.ts'

/** The browser cannot check signatures: it does not support Ed25519, or the page was not loaded over HTTPS. */
export class NoSignatures extends Error {
  override readonly name = 'NoSignatures'
}

/** The most times that `checkBundle` runs the verifier. No real bundle needs more: it has few keys, and few signatures by each. */
const maxRounds = 20

/**
 * Checks the lines of a bundle against the keys that the reader trusts. The browser checks signatures asynchronously, but the verifier is
 * synchronous: the verifier runs again with the known results until it needs no new one. Rejects with `NoSignatures`, or with another error after
 * `maxRounds` runs.
 */
export async function checkBundle(lines: readonly string[], keys: readonly string[]): Promise<BundleReport> {
  const answers = new Map<string, boolean>()
  for (let round = 0; round < maxRounds; round += 1) {
    const pending = new Map<string, Promise<boolean>>()
    const report = verifyBundle(lines, cryptographyOf(answers, pending), { keys })
    if (pending.size === 0) return report
    for (const [name, answer] of pending) answers.set(name, await answer)
  }
  throw new Error('The bundle asks for too many signatures.')
}

const encoder = new TextEncoder()

function cryptographyOf(
  answers: ReadonlyMap<string, boolean>,
  pending: Map<string, Promise<boolean>>,
): Cryptography {
  return {
    sha256,
    utf8: (text) => encoder.encode(text),
    text: textOf,
    isSignedBy(publicKey, message, signature) {
      const name = [publicKey, sha256(message), signature].map((bytes) => bytes.join(' ')).join('/')
      const answer = answers.get(name)
      if (answer === undefined) pending.set(name, isSigned(publicKey, message, signature))
      return answer ?? false
    },
  }
}

/** Decodes `bytes` as UTF-8; `undefined` when they are not valid UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  return tryOr(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), undefined)
}

async function isSigned(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto.subtle
  if (subtle === undefined) throw new NoSignatures('This page did not come by HTTPS.')
  const key = await subtle
    .importKey('raw', new Uint8Array(publicKey), 'Ed25519', false, ['verify'])
    .catch((fault: unknown) => {
      if (fault instanceof DOMException && fault.name === 'NotSupportedError')
        throw new NoSignatures('This browser does not know Ed25519.')
      // The bytes are not a valid key.
      return null
    })
  return key !== null && subtle.verify('Ed25519', key, new Uint8Array(signature), new Uint8Array(message))
}
