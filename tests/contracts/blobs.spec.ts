import { mkdir, mkdtemp, readFile, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openFileBlobs } from '#platform/blobs/files.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { blobsContract } from './blobs.contract.ts'

const fileOf = (folder: string, hash: string) => join(folder, hash.slice(0, 2), hash.slice(2, 4), hash)

blobsContract('files', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'flightdeck-blobs-'))
  const folder = join(parent, 'blobs')
  let blobs = openFileBlobs({ folder })
  return {
    blobs,
    damage: async (hash) => {
      const bytes = await readFile(fileOf(folder, hash))
      bytes[0] = (bytes[0] ?? 0) ^ 1
      await writeFile(fileOf(folder, hash), bytes)
    },
    date: (hash, putAt) => utimes(fileOf(folder, hash), putAt, putAt),
    reopen: async () => {
      await blobs.close()
      blobs = openFileBlobs({ folder })
      return blobs
    },
    close: async () => {
      await blobs.close()
      await rm(parent, { recursive: true })
    },
  }
})

describe('the blob files', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-blobs-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('what a killed process left half-written is dropped, and no draft stays behind', async () => {
    const drafts = join(folder, 'half-written')
    await mkdir(drafts)
    await writeFile(join(drafts, 'of an earlier process'), 'half')
    const blobs = openFileBlobs({ folder })
    expect(await readdir(drafts)).toEqual([])
    await blobs.put(Buffer.from('whole'))
    expect(await readdir(drafts)).toEqual([])
    await blobs.close()
  })

  test('a file is only its owner’s to read', async () => {
    const blobs = openFileBlobs({ folder })
    const hash = await blobs.put(Buffer.from('sealed'))
    expect((await stat(fileOf(folder, hash))).mode & 0o777).toBe(0o600)
    await blobs.close()
  })

  test('a file that was cut short is mended by putting its bytes again', async () => {
    const blobs = openFileBlobs({ folder })
    const hash = await blobs.put(Buffer.from('whole'))
    await truncate(fileOf(folder, hash), 2)
    await blobs.put(Buffer.from('whole'))
    expect(Buffer.from((await blobs.get(hash)) ?? '').toString()).toBe('whole')
    await blobs.close()
  })

  test('what is no blob is not listed, and what cannot be looked into is told after all the others', async () => {
    const blobs = openFileBlobs({ folder })
    const future = new Date(Date.now() + 60_000)
    const hashes = [await blobs.put(Buffer.from('one')), await blobs.put(Buffer.from('two'))].toSorted()
    await writeFile(join(folder, 'half-written', 'f'.repeat(64)), 'half')
    await writeFile(join(folder, 'notes'), 'no folder')
    const elsewhere = join(folder, '00', '00', 'f'.repeat(64))
    await mkdir(dirname(elsewhere), { recursive: true })
    await writeFile(elsewhere, 'not where it belongs')
    const listed: string[] = []
    for await (const hash of blobs.list(future)) listed.push(hash)
    expect(listed).toEqual(hashes)
    await writeFile(join(folder, '00', '01'), 'a file where a folder must be')
    listed.length = 0
    const listing = (async () => {
      for await (const hash of blobs.list(future)) listed.push(hash)
    })()
    await expect(listing).rejects.toThrow(EngineUnavailable)
    expect(listed).toEqual(hashes)
    await blobs.close()
    await expect(blobs.list(future)[Symbol.asyncIterator]().next()).rejects.toThrow(EngineUnavailable)
  })

  test('a failing disk and a closed store are told as unavailable, and a failed put leaves nothing', async () => {
    const blobs = openFileBlobs({ folder })
    const hash = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    await mkdir(fileOf(folder, hash), { recursive: true })
    await expect(blobs.put(Buffer.from('hello'))).rejects.toThrow(EngineUnavailable)
    expect(await readdir(join(folder, 'half-written'))).toEqual([])
    await blobs.close()
    await expect(blobs.put(Buffer.from('other'))).rejects.toThrow(EngineUnavailable)
    await expect(blobs.ready()).rejects.toThrow(EngineUnavailable)
    await writeFile(join(folder, 'notes'), 'a file where a folder must be')
    expect(() => openFileBlobs({ folder: join(folder, 'notes') })).toThrow(EngineUnavailable)
  })
})
