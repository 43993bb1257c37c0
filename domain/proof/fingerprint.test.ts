import { expect, test } from 'vitest'
import { cryptography } from '../../services/platform/seals/cryptography.ts'
import { fingerprintOf, keyFingerprint, parseFingerprint } from './fingerprint.ts'
import { verifierKey, writeVerifierKey } from './checkpoint.ts'

const { sha256 } = cryptography
// The first public key of RFC 8032, section 7.1.
const publicKey = Uint8Array.from(
  Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex'),
)
const fingerprint = '21fe 31df a154 a261 626b f854 046f d227'

test('a fingerprint is over the bytes of the key, whatever name it has', () => {
  expect(keyFingerprint(sha256, publicKey)).toBe(fingerprint)
  for (const name of ['flightdeck.dev/log/a/1', 'flightdeck.dev/log/a/2'])
    expect(fingerprintOf(sha256, writeVerifierKey(verifierKey(sha256, name, publicKey)))).toBe(fingerprint)
  expect(fingerprintOf(sha256, 'no key')).toBeUndefined()
})

test('a fingerprint may be typed with or without spaces, in either case', () => {
  for (const typed of [fingerprint, fingerprint.replaceAll(' ', ''), fingerprint.toUpperCase()])
    expect(parseFingerprint(typed)).toBe(fingerprint)
  for (const none of ['', fingerprint.slice(5), `${fingerprint} 00`, fingerprint.replace('2', 'g')])
    expect(parseFingerprint(none)).toBeUndefined()
})
