/** Blobs are sealed under the key of the task or person that they belong to. */
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { sealedBlobs } from './sealedBlobs.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const words = Buffer.from('what an agent wrote')

test('what is put comes back, and lies sealed under a name that tells nothing of it', async () => {
  const blobs = sealedBlobs(engines)
  const ref = await blobs.put('task:1', words)
  expect(ref.size).toBe(words.byteLength)
  expect(Buffer.from((await blobs.get('task:1', ref)) ?? [])).toEqual(words)
  const lying = Buffer.from((await engines.blobs.get(ref.hash)) ?? [])
  expect(lying.includes(words)).toBe(false)
  // The same bytes get another name each time, so that nobody can tell that they are the same.
  expect((await blobs.put('task:1', words)).hash).not.toBe(ref.hash)
})

test('another scope cannot open it, and once the key is destroyed nobody can', async () => {
  const blobs = sealedBlobs(engines)
  const ref = await blobs.put('task:1', words)
  await engines.vault.seal('task:2', 'any', randomBytes(8))
  await expect(blobs.get('task:2', ref)).rejects.toMatchObject({ name: 'CannotOpen' })
  await engines.vault.destroy('task:1')
  expect(await blobs.get('task:1', ref)).toBeUndefined()
})

test('what was never put is not there', async () => {
  expect(await sealedBlobs(engines).get('task:1', { hash: 'f'.repeat(64), size: 1 })).toBeUndefined()
})
