import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cryptography } from '../../../services/platform/seals/cryptography.ts'
import { verifyBundle } from '#domain/proof/verifyBundle.ts'
import { checkBundle } from './checkBundle.ts'
import { sha256 } from './sha256.ts'

const linesOf = (name: string) =>
  readFileSync(new URL(`../../../tests/data/proof/${name}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
const bundle = linesOf('bundle.ndjson')
const keys = linesOf('keys.txt').slice(0, 1)

test('SHA-256 is the one of Node', () =>
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(Buffer.from(sha256(bytes)).toString('hex')).toBe(
        createHash('sha256').update(bytes).digest('hex'),
      )
    }),
    { numRuns: 400 },
  ))

describe('recorder point 14: a bundle in the browser', () => {
  test.each([
    ['with its key', bundle, keys],
    ['with no key', bundle, []],
    ['with another key', bundle, ['0000 0000 0000 0000 0000 0000 0000 0000']],
    ['without a line', bundle.toSpliced(3, 1), keys],
    ['without its end', bundle.slice(0, -1), keys],
    ['with another word', bundle.map((line) => line.replace('"revision":2', '"revision":3')), keys],
    ['of nothing', ['no bundle'], keys],
  ])('%s is what the verifier of the command line says it is', async (_how, lines, known) => {
    expect(await checkBundle(lines, known)).toEqual(verifyBundle(lines, cryptography, { keys: known }))
  })

  test('is whole as it is', async () => {
    expect(await checkBundle(bundle, keys)).toMatchObject({ verdict: 'whole', faults: [] })
  })
})
