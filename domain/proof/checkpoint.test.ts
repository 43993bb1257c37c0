import { createHash, createPublicKey, verify } from 'node:crypto'
import { assert, nat, property, string as anyString, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'
import { present } from '../../tests/domain/present.ts'
import vectors from '../../tests/data/proof/vectors.json' with { type: 'json' }
import { fromBase64, toBase64 } from '../kernel/base64.ts'
import {
  checkpointText,
  parseCheckpoint,
  parseInclusionProof,
  parseNote,
  parseVerifierKey,
  signaturesBy,
  verifierKey,
  writeInclusionProof,
  writeNote,
  writeVerifierKey,
} from './checkpoint.ts'
import type { Hash } from './merkleTree.ts'

const sha256 = (bytes: Uint8Array): Hash => new Uint8Array(createHash('sha256').update(bytes).digest())
const { checkpoint, verifier } = vectors.note

function isSigned(note: string, vkey: string): boolean {
  const parsed = present(parseNote(note))
  const key = present(parseVerifierKey(sha256, vkey))
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key.publicKey])
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
  const signatures = signaturesBy(parsed, key)
  return (
    signatures.length > 0 &&
    signatures.every(({ signature }) => verify(null, Buffer.from(parsed.text), publicKey, signature))
  )
}

test('a checkpoint that another implementation signed is read, verified and written the same', () => {
  const note = present(parseNote(checkpoint))
  const head = present(parseCheckpoint(note.text))
  expect(head).toMatchObject({ origin: 'flightdeck.example/log', size: 200 })
  expect(checkpointText(head)).toBe(note.text)
  expect(writeNote(note)).toBe(checkpoint)
  expect(isSigned(checkpoint, verifier)).toBe(true)
  expect(isSigned(checkpoint.replace('\n200\n', '\n199\n'), verifier)).toBe(false)
})

test("a key is written as another implementation's, and one whose id is not its own is refused", () => {
  const key = present(parseVerifierKey(sha256, verifier))
  expect(writeVerifierKey(key)).toBe(verifier)
  expect(verifierKey(sha256, key.name, key.publicKey)).toEqual(key)
  const [name, , encoded] = verifier.split('+')
  expect(parseVerifierKey(sha256, `${name}+00000000+${encoded}`)).toBeUndefined()
  expect(() => verifierKey(sha256, 'with space', key.publicKey)).toThrow(RangeError)
})

test('the example of the signed-note specification is read and verified', () => {
  const key = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
  const note =
    'This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
  expect(isSigned(note, key)).toBe(true)
  expect(isSigned(note.replace('message', 'Message'), key)).toBe(false)
})

test('a proof is written and read the same, and without its extra data', () => {
  const proof = { index: 7, proof: [sha256(Uint8Array.of(1)), sha256(Uint8Array.of(2))], note: checkpoint }
  const text = writeInclusionProof(proof)
  expect(parseInclusionProof(text)).toEqual(proof)
  expect(parseInclusionProof(text.replace('index', 'extra AAAA\nindex'))).toEqual(proof)
  expect(parseInclusionProof(text.replace('@v1', '@v2'))).toBeUndefined()
  expect(parseInclusionProof(text.replace('index 7', 'index 07'))).toBeUndefined()
})

test('what is no note, checkpoint or proof is told as such, and never throws', () => {
  for (const text of ['', '\n', 'a\n\nb', `${checkpoint}\u0000`, 'a\n\n\u2014 key QUJD\n', `${checkpoint}x`])
    expect(parseNote(text)).toBeUndefined()
  for (const text of ['o\n01\n', 'o\n1\nAAAA\n', 'o\n1e3\n', `${parseNote(checkpoint)?.text}more\n`])
    expect(parseCheckpoint(text)).toBeUndefined()
  assert(
    property(nat(checkpoint.length - 1), anyString({ maxLength: 3 }), (at, put) => {
      const changed = checkpoint.slice(0, at) + put + checkpoint.slice(at + 1)
      const note = parseNote(changed)
      if (note) parseCheckpoint(note.text)
      parseInclusionProof(changed)
      parseVerifierKey(sha256, changed)
    }),
  )
})

test('base64 is that of Node, and one text stands for the bytes', () => {
  assert(
    property(uint8Array({ maxLength: 100 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      expect(toBase64(bytes)).toBe(text)
      expect(fromBase64(text)).toEqual(bytes)
    }),
  )
  for (const text of ['A', 'AB', 'AB==CD==', 'AB=C', 'AA-_', 'AB==\n', 'AB=='])
    expect(fromBase64(text)).toBeUndefined()
})
