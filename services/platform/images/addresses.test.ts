/** An address shows one image, unchanged, for some minutes, and reveals nothing else. */
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SealedImage } from '#domain/views/images.ts'
import { purposeKey } from '#platform/vault/sealing.ts'
import { imageId, taskId } from '../../../tests/domain/ids.ts'
import { imageAddresses } from './addresses.ts'

const masterKey = randomBytes(32)
const begin = Date.parse('2026-01-01T00:01:00.000Z')
const minutes = (count: number) => count * 60_000
const at = (ms: number, key: Uint8Array = masterKey) =>
  imageAddresses({
    vault: { deriveKey: (purpose) => purposeKey(key, purpose) },
    clock: { now: () => new Date(ms) },
  })

const image: SealedImage = {
  imageId: imageId(1),
  scope: `task:${taskId(1)}`,
  blob: { hash: 'a'.repeat(64), size: 1_234 },
  mediaType: 'image/png',
  name: 'the plan of the house ✓.png',
}
const grantOf = (address: string) => /^\/api\/images\/[0-9a-f-]{36}\?grant=([\w-]+)$/.exec(address)?.[1] ?? ''
const grant = grantOf(at(begin).addressOf(image))

describe('an address', () => {
  test('opens the image that it is of', () =>
    expect(at(begin).openedBy(image.imageId, grant)?.image).toEqual(image))

  test('opens any image again', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (name, size) => {
        const other = { ...image, name, blob: { ...image.blob, size } }
        const opened = at(begin).openedBy(image.imageId, grantOf(at(begin).addressOf(other)))
        expect(opened?.image).toEqual(other)
      }),
    ))

  test('is good for ten to fifteen minutes', () => {
    for (const given of [0, 1, minutes(2), minutes(4) - 1, minutes(4), minutes(9)]) {
      const one = grantOf(at(begin + given).addressOf(image))
      const secondsLeft = at(begin + given).openedBy(image.imageId, one)?.secondsLeft ?? 0
      expect(secondsLeft).toBeGreaterThanOrEqual(599)
      expect(secondsLeft).toBeLessThanOrEqual(900)
      expect(at(begin + given + secondsLeft * 1_000 + 1_001).openedBy(image.imageId, one)).toBeUndefined()
    }
  })

  test('stays the same for a while, so that a browser keeps what it has', () => {
    expect(at(begin + minutes(3)).addressOf(image)).toBe(at(begin).addressOf(image))
    expect(at(begin + minutes(5)).addressOf(image)).not.toBe(at(begin).addressOf(image))
  })

  test('opens no other image', () => expect(at(begin).openedBy(imageId(2), grant)).toBeUndefined())

  test('opens nothing once any character of it is another', () => {
    for (let index = 0; index < grant.length - 1; index += 1) {
      const changed = `${grant.slice(0, index)}${grant[index] === 'A' ? 'B' : 'A'}${grant.slice(index + 1)}`
      expect(at(begin).openedBy(image.imageId, changed)).toBeUndefined()
    }
  })

  test('of a server with another master key opens nothing', () =>
    expect(at(begin, randomBytes(32)).openedBy(image.imageId, grant)).toBeUndefined())

  test.each(['', 'A', 'A'.repeat(16), 'A'.repeat(40), '{}', '%', 'x'.repeat(100_000)])(
    'opens nothing when it was made up: %.20s',
    (madeUp) => expect(at(begin).openedBy(image.imageId, madeUp)).toBeUndefined(),
  )

  test('tells neither the name nor where the bytes are', () => {
    const bytes = Buffer.from(grant, 'base64url').toString('latin1')
    for (const told of ['plan', taskId(1), 'aaaa', 'image/png']) expect(bytes).not.toContain(told)
  })
})
