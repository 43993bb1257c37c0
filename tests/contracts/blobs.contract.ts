/** What every blob store must do. */
import * as fc from 'fast-check'
import { createHash, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Blobs } from '#platform/ports/blobs.ts'
import { DamagedBlob } from '#platform/ports/faults.ts'

export interface OpenBlobs {
  readonly blobs: Blobs
  /** Changes one byte of what is stored, past the adapter. */
  readonly damage: (hash: string) => Promise<void>
  /** Closes the store and opens one on the same data. */
  readonly reopen: () => Promise<Blobs>
  readonly close: () => Promise<void>
}

export function blobsContract(name: string, open: () => Promise<OpenBlobs>): void {
  describe(`blobs: ${name}`, () => {
    let opened: OpenBlobs
    let blobs: Blobs
    beforeEach(async () => {
      opened = await open()
      blobs = opened.blobs
    })
    afterEach(() => opened.close())

    test('any bytes come back as they were put, by their SHA-256', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
          const hash = await blobs.put(bytes)
          expect(hash).toBe(createHash('sha256').update(bytes).digest('hex'))
          expect(Buffer.from((await blobs.get(hash)) ?? 'nothing')).toEqual(Buffer.from(bytes))
        }),
        { numRuns: 30 },
      )
    })

    test('some megabytes come back whole', async () => {
      const bytes = randomBytes(5_000_001)
      const hash = await blobs.put(bytes)
      expect(bytes.equals((await blobs.get(hash)) ?? new Uint8Array())).toBe(true)
    })

    test('the same bytes may be put again, also at the same time', async () => {
      const bytes = randomBytes(100_000)
      const hashes = await Promise.all(Array.from({ length: 8 }, () => blobs.put(bytes)))
      expect(new Set(hashes).size).toBe(1)
      expect(await blobs.put(bytes)).toBe(hashes[0])
      expect(bytes.equals((await blobs.get(hashes[0] ?? '')) ?? new Uint8Array())).toBe(true)
    })

    test('there is nothing under a hash that was never put, nor under what is no hash', async () => {
      expect(await blobs.get('0'.repeat(64))).toBeUndefined()
      for (const name of ['', 'a', '../../etc/passwd', `${'0'.repeat(63)}/`, 'Z'.repeat(64)]) {
        expect(await blobs.get(name)).toBeUndefined()
        await blobs.remove(name)
      }
    })

    test('what was removed is gone, may be removed again, and may be put again', async () => {
      const bytes = randomBytes(100)
      const hash = await blobs.put(bytes)
      await blobs.remove(hash)
      expect(await blobs.get(hash)).toBeUndefined()
      await blobs.remove(hash)
      await blobs.put(bytes)
      expect(await blobs.get(hash)).toBeDefined()
    })

    test('bytes that were changed are never given out', async () => {
      const hash = await blobs.put(randomBytes(1_000))
      await opened.damage(hash)
      await expect(blobs.get(hash)).rejects.toThrow(DamagedBlob)
    })

    test('what was put is there after a restart', async () => {
      const bytes = randomBytes(1_000)
      const hash = await blobs.put(bytes)
      blobs = await opened.reopen()
      await blobs.ready()
      expect(bytes.equals((await blobs.get(hash)) ?? new Uint8Array())).toBe(true)
    })
  })
}
