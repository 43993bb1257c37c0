/** What every blob store must do. */
import * as fc from 'fast-check'
import { createHash, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Blobs } from '#platform/ports/blobs.ts'
import { DamagedBlob } from '#platform/ports/faults.ts'
import { randomRuns } from '../longRun.ts'

export interface OpenBlobs {
  readonly blobs: Blobs
  /** Changes one byte of a stored blob behind the adapter's back. */
  readonly damage: (hash: string) => Promise<void>
  /** Sets the time when the blob was last put, behind the adapter's back. */
  readonly date: (hash: string, putAt: Date) => Promise<void>
  /** Closes the store and opens another one on the same data. */
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
        { numRuns: randomRuns(30) },
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

    test('a check tells a blob that is whole from one that was changed, and from none', async () => {
      const hash = await blobs.put(randomBytes(2_500_000))
      expect(await blobs.check(hash)).toBe('whole')
      await opened.damage(hash)
      expect(await blobs.check(hash)).toBe('changed')
      await blobs.remove(hash)
      expect(await blobs.check(hash)).toBe('missing')
      expect(await blobs.check('../../etc/passwd')).toBe('missing')
    })

    describe('by their age', () => {
      const moment = new Date('2025-01-02T00:00:00Z')
      const before = new Date('2025-01-01T23:59:59Z')
      const put = async (name: string, putAt?: Date): Promise<string> => {
        const hash = await blobs.put(Buffer.from(name))
        if (putAt) await opened.date(hash, putAt)
        return hash
      }
      const listed = async (putBefore = moment): Promise<readonly string[]> => {
        const hashes: string[] = []
        for await (const hash of blobs.list(putBefore)) hashes.push(hash)
        return hashes.toSorted()
      }

      test('those are listed that were put before a moment, each once', async () => {
        expect(await listed()).toEqual([])
        const old = await Promise.all(Array.from({ length: 60 }, (_, n) => put(`old ${n}`, before)))
        await put('at the moment', moment)
        const fresh = await put('now')
        expect(await listed()).toEqual(old.toSorted())
        expect(await listed(new Date(Date.now() + 60_000))).toHaveLength(62)
        blobs = await opened.reopen()
        expect(await listed()).not.toContain(fresh)
        expect(await listed()).toHaveLength(60)
      })

      test('one that is put again is as young as that', async () => {
        const again = await put('again', before)
        const old = await put('old', before)
        await put('again')
        expect(await listed()).toEqual([old])
        await blobs.remove(again, moment)
        await blobs.remove(old, moment)
        expect(await blobs.get(again)).toBeDefined()
        expect(await blobs.get(old)).toBeUndefined()
        expect(await listed(new Date(Date.now() + 60_000))).toEqual([again])
      })

      test('what is put again and removed for its age at the same time is there afterwards', async () => {
        for (let round = 0; round < 20; round += 1) {
          const hash = await put('wanted again', before)
          await Promise.all([blobs.remove(hash, moment), put('wanted again'), blobs.remove(hash, moment)])
          expect(Buffer.from((await blobs.get(hash)) ?? 'nothing').toString()).toBe('wanted again')
        }
      })

      test('a list may be left, and what is removed while it is read does no harm', async () => {
        const old = await Promise.all(Array.from({ length: 20 }, (_, n) => put(`old ${n}`, before)))
        for await (const hash of blobs.list(moment)) {
          expect(old).toContain(hash)
          break
        }
        for await (const hash of blobs.list(moment)) await blobs.remove(hash, moment)
        expect(await listed()).toEqual([])
        await blobs.remove('../../etc/passwd', moment)
      })
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
