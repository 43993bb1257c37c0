/** Replaced keys, and witnesses: what the reader of a bundle can tell from a key that they know. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { present } from '../../tests/domain/present.ts'
import { bundleOf, signingKey } from '../../tests/domain/auditBundles.ts'
import { cryptography, rawPublicKey } from '../../services/platform/seals/cryptography.ts'
import { toBase64 } from '../kernel/base64.ts'
import { BundleRecord } from './auditBundle.schema.ts'
import { originOf } from './bundleHashes.ts'
import { verifierKey, parseWitnessKey, writeVerifierKey } from './checkpoint.ts'
import { withLinkedKeys, writeKeyLink, fingerprintOf, keyFingerprint, parseFingerprint } from './logKeys.ts'
import { verifyBundle, type ReaderKnows } from './verifyBundle.ts'

const lines = await bundleOf()
const header = BundleRecord.parse(JSON.parse(lines[0] ?? ''))
if (header.kind !== 'header') throw new Error('There is no header.')
const { logId, epoch } = header
const keyFrom = (seed: number, of = epoch) => {
  const { verifier, vkey, sign } = signingKey(originOf({ logId, epoch: of }), seed)
  return { publicKey: verifier.publicKey, vkey, sign }
}
/** The one that signs the bundle. */
const newest = keyFrom(7)
const link = (from: ReturnType<typeof keyFrom>, to: ReturnType<typeof keyFrom>, of = { logId, epoch }) =>
  writeKeyLink(cryptography, of, from, to.publicKey)
const report = async (links: readonly string[], knows: ReaderKnows) =>
  verifyBundle(await bundleOf({ links }), cryptography, knows)

describe('a key that was replaced', () => {
  const [first, second] = [keyFrom(1), keyFrom(2)]
  const links = [link(second, newest), link(first, second)]

  test('vouches for the one after it, and for those after that', async () => {
    for (const { vkey } of [first, second])
      expect(await report(links, { keys: [vkey] })).toMatchObject({
        verdict: 'whole',
        signedBy: newest.vkey,
        isReplacement: true,
      })
    expect(await report(links, { keys: [newest.vkey] })).toMatchObject({
      verdict: 'whole',
      isReplacement: false,
    })
    // It may be known, and may have signed, under the name of another epoch.
    const earlier = keyFrom(2, 9)
    expect(
      await report([link(earlier, newest, { logId, epoch: 9 })], { keys: [earlier.vkey] }),
    ).toMatchObject({
      verdict: 'whole',
      isReplacement: true,
    })
  })

  test('says nothing without a link; the key that signed is named', async () => {
    for (const some of [[], [link(first, second)], [link(second, newest)]])
      expect(await report(some, { keys: [first.vkey] })).toMatchObject({
        verdict: 'unknown_key',
        signedBy: newest.vkey,
      })
  })

  test.each([
    ['that was signed by another key', link({ ...first, sign: keyFrom(3).sign }, newest)],
    ['of another log', link(first, newest, { logId: '11111111-1111-4111-8111-111111111111', epoch })],
    ['that leads backwards', link(newest, first)],
    ['that is no note', 'link'],
    ['that is a seal', header.checkpoint],
    ['that was changed', link(first, second).replace(toBase64(second.publicKey), toBase64(newest.publicKey))],
  ])('is not linked by a note %s', async (_, forged) => {
    expect((await report([forged], { keys: [first.vkey] })).verdict).toBe('unknown_key')
  })

  // Holds findings 2.16.
  test('recorder L2: links that were changed, added or removed are found, as the manifest signs the header', () => {
    for (const some of [['garbage'], links.toReversed(), links.slice(1), [...links, links[0] ?? '']])
      expect(
        verifyBundle([JSON.stringify({ ...header, links: some }), ...lines.slice(1)], cryptography, {
          keys: [newest.vkey],
        }),
      ).toMatchObject({ verdict: 'not_whole', faults: [{ kind: 'changed', where: 'header' }] })
  })

  test('links in a circle end', () => {
    const circle = [link(first, second), link(second, first)]
    expect(withLinkedKeys(cryptography, logId, [first.publicKey], circle)).toHaveLength(2)
  })
})

describe('a witness whose key the reader knows', () => {
  function witnessOf(name: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const key = verifierKey(cryptography.sha256, name, rawPublicKey(publicKey), 4)
    const cosign = (note: string, time: number, by = privateKey) => {
      const text = note.slice(0, note.indexOf('\n\n') + 1)
      const stamp = Buffer.alloc(8)
      stamp.writeBigUInt64BE(BigInt(time))
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), by)
      return `${note}\u2014 ${name} ${toBase64(Buffer.concat([key.keyId, stamp, signature]))}\n`
    }
    return { key, cosign }
  }
  const { key, cosign } = witnessOf('witness.example')
  const sealOf = (checkpoint: string) => JSON.stringify({ checkpoint })
  const knows = (seals: readonly string[], witnesses = [key]) =>
    verifyBundle(lines, cryptography, { keys: header.keys, seals, witnesses })

  test('has signed the seal of the bundle, and says when', () => {
    expect(
      knows([sealOf(header.checkpoint), sealOf(cosign(header.checkpoint, 1_795_000_000))]),
    ).toMatchObject({
      verdict: 'whole',
      isWitnessed: true,
      cosignatures: [{ witness: 'witness.example', time: 1_795_000_000 }],
    })
  })

  test('has not: then the bundle is whole, and not witnessed', () => {
    expect(knows([sealOf(header.checkpoint)])).toMatchObject({ verdict: 'whole', isWitnessed: false })
    const other = witnessOf('other.example')
    expect(knows([sealOf(other.cosign(header.checkpoint, 1))])).toMatchObject({
      verdict: 'whole',
      isWitnessed: false,
      cosignatures: [],
    })
  })

  test.each([
    ['by another key', () => cosign(header.checkpoint, 1, generateKeyPairSync('ed25519').privateKey)],
    ['for another time', () => cosign(header.checkpoint, 1).replace(/.{4}(?=\n$)/, 'AAA=')],
    ['twice', () => cosign(cosign(header.checkpoint, 1), 2)],
  ])('has a signature in its name that it did not make so: %s', (_, note) => {
    expect(knows([sealOf(note())])).toMatchObject({
      verdict: 'not_whole',
      faults: [{ kind: 'unsigned', where: expect.stringMatching(/^seal/) }],
    })
  })

  test('is named by a key of its own kind', () => {
    const text = (type: number) =>
      `${key.name}+${Buffer.from(key.keyId).toString('hex')}+${toBase64(Buffer.concat([Buffer.of(type), key.publicKey]))}`
    expect(parseWitnessKey(cryptography, text(4))).toEqual(key)
    expect(parseWitnessKey(cryptography, text(1))).toBeUndefined()
    expect(parseWitnessKey(cryptography, present(header.keys[0]))).toBeUndefined()
  })
})

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
