import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openScratch } from './scratch.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-scratch-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

test('what a killed runner left is gone when it starts again, and nothing of another', async () => {
  const mine = await (await openScratch('runner-1')).make()
  const other = await (await openScratch('runner-2')).make()
  await openScratch('runner-1')
  expect(await readdir(folder)).toEqual([basename(other)])
  expect(basename(mine)).not.toBe(basename(other))
})

test('a folder lets others pass through and see nothing', async () => {
  const made = await (await openScratch('runner-1')).make()
  expect((await stat(made)).mode & 0o777).toBe(0o711)
})

test('a temporary folder that is missing is refused with a sentence', async () => {
  vi.stubEnv('TMPDIR', join(folder, 'nowhere'))
  await expect(openScratch('runner-1')).rejects.toThrow(/^The folder .*nowhere for temporary files .* TMPDIR/)
})
