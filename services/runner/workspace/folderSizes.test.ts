import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openFolderSizes, sizesOf, type FolderSizes } from './folderSizes.ts'

const path = process.env['PATH'] ?? ''
let root: string
let sizes: FolderSizes

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sizes-'))
  sizes = openFolderSizes(root, path)
})
afterEach(async () => {
  sizes.close()
  await rm(root, { recursive: true })
})

async function folder(name: string, bytes: number): Promise<string> {
  await mkdir(join(root, name), { recursive: true })
  await writeFile(join(root, name, 'file'), Buffer.alloc(bytes, 'x'))
  return join(root, name)
}

test('counts a folder again and again as it grows, and one that is not there as empty', async () => {
  const grown = async (bytes: number) => sizes.sizeOf(await folder('tasks/one', bytes))
  const small = Number(await grown(10_000))
  const large = Number(await grown(1_000_000))
  expect(small).toBeGreaterThanOrEqual(10_000)
  expect(large).toBeGreaterThanOrEqual(small + 900_000)
  expect(await sizes.sizeOf(join(root, 'tasks/none'))).toBe(0)
  expect(await grown(10_000)).toBe(small)
})

test('counts several folders at once', async () => {
  const folders = await Promise.all([1_000, 50_000, 200_000].map((bytes) => folder(`of ${bytes}`, bytes)))
  const counted = await Promise.all(folders.map(sizes.sizeOf))
  const known = await sizesOf(folders, path)
  expect(counted).toEqual(folders.map((one) => known.get(one)))
})

test('counts again after it was closed', async () => {
  const one = await folder('one', 5_000)
  const before = await sizes.sizeOf(one)
  sizes.close()
  expect(await sizes.sizeOf(one)).toBe(before)
})
