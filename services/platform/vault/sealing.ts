/**
 * The encrypted form of bytes in every vault: AES-256-GCM, as format (1 byte), IV (12), tag (16), ciphertext. Scope and context are authenticated but
 * not stored.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { CannotOpen, KeyMissing } from '../ports/faults.ts'
import type { Opened, SealedPiece } from '../ports/vault.ts'
import { takeRandom } from '../randomPool.ts'

/** The place that encrypted bytes are bound to. A scope contains no NUL, so scope and context cannot be confused. */
export interface Place {
  readonly scope: string
  readonly context: string
}

export const keyBytes = 32

/** The place of the value that verifies a vault's master key. */
export const checkPlace: Place = { scope: 'vault', context: 'check' }

/** The place to which a scope's data key is bound when it is encrypted under the wrapping key. */
export function keyPlace(scope: string): Place {
  return { scope, context: 'data key' }
}

/** The place of a secret, encrypted under its scope's data key. */
export function secretPlace(scope: string, name: string): Place {
  return { scope, context: `secret\0${name}` }
}

export function wrappingKey(masterKey: Uint8Array): Uint8Array {
  return deriveKey(masterKey, 'data-key wrapping')
}

/** The server's key for one purpose. It never equals the wrapping key, whatever the purpose is. */
export function purposeKey(masterKey: Uint8Array, purpose: string): Uint8Array {
  return deriveKey(masterKey, `purpose ${purpose}`)
}

const format = 1
const ivBytes = 12
const tagBytes = 16
const headBytes = 1 + ivBytes + tagBytes

/** Encrypts under a 32-byte key. */
export function sealBytes(key: Uint8Array, place: Place, plain: Uint8Array): Uint8Array {
  const iv = takeRandom(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(boundTo(place))
  const ciphertext = [cipher.update(plain), cipher.final()]
  return Buffer.concat([Buffer.of(format), iv, cipher.getAuthTag(), ...ciphertext])
}

/** Opens bytes that `sealBytes` has encrypted. Throws `CannotOpen` if the bytes, key or place differ. */
export function openBytes(key: Uint8Array, place: Place, sealed: Uint8Array): Uint8Array {
  if (sealed.byteLength < headBytes || sealed[0] !== format) {
    throw new CannotOpen(`What is sealed for ${place.scope} is not in a known form.`)
  }
  const iv = sealed.subarray(1, 1 + ivBytes)
  const tag = sealed.subarray(1 + ivBytes, headBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(boundTo(place))
    .setAuthTag(tag)
  try {
    const plain = decipher.update(sealed.subarray(headBytes))
    // In this mode all of the plaintext comes from `update`; `final` checks the tag.
    decipher.final()
    return plain
  } catch (fault) {
    throw new CannotOpen(`What is sealed for ${place.scope} was changed, or sealed for another place.`, {
      cause: fault,
    })
  }
}

/** Implements `Vault.openAll` with the key that was found for the scope. */
export function openPieces(
  found: Uint8Array | 'none' | 'destroyed',
  scope: string,
  pieces: readonly SealedPiece[],
): readonly Opened[] {
  const key = usableKey(found, scope)
  return pieces.map(({ context, sealed }) => {
    try {
      return key && openBytes(key, { scope, context }, sealed)
    } catch (fault) {
      if (fault instanceof CannotOpen) return fault
      throw fault
    }
  })
}

/** The key that was found for a scope; `undefined` when it was destroyed. Throws `KeyMissing` when there is none. */
export function usableKey(found: Uint8Array | 'none' | 'destroyed', scope: string): Uint8Array | undefined {
  if (found === 'none') throw new KeyMissing(`There is no key for ${scope}.`)
  return found === 'destroyed' ? undefined : found
}

/** 32 bytes by HKDF-SHA-256 without salt. */
function deriveKey(masterKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterKey, new Uint8Array(), `flightdeck ${purpose}`, keyBytes))
}

function boundTo({ scope, context }: Place): Uint8Array {
  if (scope.includes('\0')) throw new RangeError('A scope has no NUL.')
  return Buffer.from(`${scope}\0${context}`, 'utf8')
}
