/** The seals that a bundle lists: all there are, or the newest, each with a proof. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromBase64 } from '#domain/kernel/base64.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { sealStream, taskStream } from '#domain/kernel/streams.ts'
import { hexOf, leafOf } from '#domain/proof/bundleHashes.ts'
import { append, emptyFrontier, leafHash, rootOf, verifyConsistency } from '#domain/proof/merkleTree.ts'
import { LogSealed, type Seal } from '#domain/seal.ts'
import { sha256 } from '#platform/hashes.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { addRecord, openSealTrees, storeTrees } from '#platform/seals/sealTrees.ts'
import { openTestEngines, testLog, type TestEngines } from '../../tests/server/engines.ts'
import { earlierSeals } from './earlierSeals.ts'

const seals: Seal[] = []
let engines: TestEngines
beforeAll(async () => {
  engines = await openTestEngines()
  const trees = await openSealTrees(engines.readStore, testLog)
  let frontier = emptyFrontier
  const signature = '0'.repeat(128)
  const heads = { streams: 1, root: '0'.repeat(64), signature }
  for (let size = 1; size <= 3_000; size += 1) {
    const hash = sha256(String(size))
    addRecord(trees, eventOf(size - 1), hash)
    frontier = append(cryptography.sha256, frontier, leafHash(cryptography.sha256, leafOf(hash)))
    const root = hexOf(rootOf(cryptography.sha256, frontier))
    if (size % 5 === 0) seals.push({ epoch: 1, size, root, signature, heads, keyId: '00000000' })
  }
  await storeTrees(engines.readStore, trees)
})
afterAll(() => engines?.close())

function eventOf(index: number): StoredEvent {
  return {
    id: randomUUID(),
    stream: taskStream('one'),
    revision: index,
    type: 'TaskDeleted',
    version: 1,
    at: '2026-11-28T00:00:00.000Z',
    data: {},
    content: null,
    position: String(index + 1),
    meta: {
      actor: { kind: 'system', service: 'test' },
      commandId: randomUUID(),
      correlationId: randomUUID(),
      causationId: null,
      follows: null,
      content: null,
      prev: '',
      hash: '',
    },
  }
}

/** The stream of seals, as the log has it or with one of them changed. */
async function listed(
  last: number,
  { asked = [], changed = -1 }: { asked?: number[]; changed?: number } = {},
) {
  const seal = seals[last]
  if (seal === undefined) throw new Error('There is no such seal.')
  const readStream = async (stream: string, { from, limit }: { from: number | 'end'; limit: number }) => {
    expect(stream).toBe(sealStream(1))
    return Array.from({ length: limit }, (_, back) => Number(from) - back)
      .filter((revision) => revision >= 0)
      .map((revision) => ({
        ...eventOf(revision),
        type: LogSealed.type,
        data: { ...seals[revision], ...(revision === changed ? { root: 'a'.repeat(64) } : {}) },
      }))
  }
  const sources = { eventStore: { readStream }, readStore: engines.readStore, logIdentity: testLog }
  return earlierSeals(sources, { revision: last, hash: '', at: '', seal }, asked)
}

test('recorder H3: a bundle lists every seal of the epoch while there are few, and says so', async () => {
  expect(await listed(0)).toEqual({ from: 0, sizes: [], asked: [], proofs: [] })
  const { from, sizes } = await listed(20)
  expect(from).toBe(0)
  expect(sizes).toEqual(
    seals
      .slice(0, 20)
      .toReversed()
      .map(({ size }) => size),
  )
})

test('recorder H3: of many seals it lists the newest 500, each proven, and any size that is asked for', async () => {
  const newest = seals[599]
  const { from, sizes, asked, proofs } = await listed(599, { asked: [7, 5, 2_000, 9_999] })
  expect(sizes).toHaveLength(500)
  expect(from).toBe(sizes.at(-1))
  // 2,000 is the size of a listed seal, and 9,999 is more than there is.
  expect(asked).toEqual([7, 5, 2_000])
  expect(proofs).toHaveLength(502)
  const head = { size: newest?.size ?? 0, root: Buffer.from(newest?.root ?? '', 'hex') }
  for (const { size, root, proof } of proofs) {
    const older = { size, root: fromBase64(root) ?? new Uint8Array() }
    const path = proof.map((hash) => fromBase64(hash) ?? new Uint8Array())
    expect(verifyConsistency(cryptography.sha256, older, head, path)).toBe(true)
  }
})

test('a list ends before a seal that was changed: a genuine one of its size must not look forged', async () => {
  const { from, sizes } = await listed(20, { changed: 12 })
  expect(sizes).toEqual(
    seals
      .slice(13, 20)
      .toReversed()
      .map(({ size }) => size),
  )
  expect(from).toBe(seals[13]?.size)
  const none = await listed(20, { changed: 19 })
  expect(none).toMatchObject({ from: seals[20]?.size, sizes: [] })
})
