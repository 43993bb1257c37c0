import { readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, open, realpath, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { syncAll } from './backupFiles.ts'

test('a folder is synced with every file and every folder in it', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'flightdeck-sync-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'a/b'), { recursive: true })
  await mkdir(join(folder, 'empty'))
  for (const file of ['top', 'a/b/deep']) await writeFile(join(folder, file), 'content')
  const handle = await open(folder, 'r')
  await handle.close()
  const synced: string[] = []
  const prototype: FileHandle = Object.getPrototypeOf(handle)
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`))
  })
  onTestFinished(() => spy.mockRestore())
  await syncAll(folder)
  const below = ['a', 'a/b', 'a/b/deep', 'empty', 'top'].map((path) => join(folder, path))
  expect(synced.toSorted()).toEqual([folder, ...below])
})
