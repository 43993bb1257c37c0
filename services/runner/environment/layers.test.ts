import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sha256 } from '#platform/hashes.ts'
import { testPath } from '../../../tests/runner/workspaceScene.ts'
import {
  allLayers,
  archivesIn,
  beginLayer,
  commitOfLayer,
  findLayer,
  keepLayer,
  lastUsed,
  noteUnderWay,
  removeHalfMade,
  removeLayer,
  type SetupUnderWay,
} from './layers.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-layers-'))
})
afterEach(() => rm(root, { recursive: true }))

const keyOf = (setup: string, locks: string) => ({
  setup: sha256(setup),
  setupAndLocks: sha256(setup + locks),
})
const [ours, theirs] = ['project-one', 'project-two']
async function half(): Promise<string> {
  const dir = await beginLayer(root)
  const { tree, home } = archivesIn(dir)
  await writeFile(tree, 'tree')
  await writeFile(home, 'home')
  return dir
}
const commit = '0'.repeat(40)
const keep = async (projectId: string, key: ReturnType<typeof keyOf>, builtAt: number, usedAt?: number) =>
  keepLayer({ root, path: testPath }, await half(), { projectId, key, builtAt, bytes: 8, commit, usedAt })

// Attacks layers: the name of another project, or a path, is asked for.
test('one is found by its key, or by its setup alone, and only by its project', async () => {
  await keep(ours, keyOf('npm ci', 'one'), 1_000)
  const find = (projectId: string, key: ReturnType<typeof keyOf>, by: 'setup' | 'setupAndLocks') =>
    findLayer(root, projectId, [key], by)
  expect((await find(ours, keyOf('npm ci', 'one'), 'setupAndLocks'))?.builtAt).toBe(1_000)
  expect(await find(ours, keyOf('npm ci', 'two'), 'setupAndLocks')).toBeUndefined()
  expect((await find(ours, keyOf('npm ci', 'two'), 'setup'))?.builtAt).toBe(1_000)
  expect(await find(ours, keyOf('make', 'one'), 'setup')).toBeUndefined()
  expect(await find(theirs, keyOf('npm ci', 'one'), 'setupAndLocks')).toBeUndefined()
  expect(await find('..', keyOf('npm ci', 'one'), 'setupAndLocks')).toBeUndefined()
})

// Attacks layers: a crash while an environment is kept.
test('one that was cut short is none, and is removed at the next start', async () => {
  await half()
  expect(await allLayers(root)).toEqual([])
  await removeHalfMade({ root, path: testPath }, async () => expect.unreachable())
  expect(await readdir(join(root, 'environments'))).toEqual([])
})

test('a setup whose process was killed is known at the next start, until its end is recorded', async () => {
  const taken = await noteUnderWay(root, { projectId: theirs, hasEarlier: true })
  const cutShort = { projectId: ours, hasEarlier: true }
  await noteUnderWay(root, cutShort)
  await taken()
  const known: SetupUnderWay[] = []
  const lookAgain = () => removeHalfMade({ root, path: testPath }, async (setup) => known.push(setup) > 1)
  // The first time, its end cannot be recorded.
  for (const times of [1, 2, 2]) {
    await lookAgain()
    expect(known).toEqual(Array.from({ length: times }, () => cutShort))
  }
})

test('one that is removed while it is looked for is not found, and an earlier one is', async () => {
  await keep(ours, keyOf('npm ci', 'one'), 1_000)
  await keep(ours, keyOf('npm ci', 'two'), 2_000)
  const markUsed = async (dir: string) => {
    if (dir.endsWith('.2000.8')) await removeLayer(dir, testPath)
    await utimes(dir, new Date(), new Date())
  }
  const found = await findLayer(root, ours, [keyOf('npm ci', '')], 'setup', markUsed)
  expect(found?.builtAt).toBe(1_000)
})

test('of two that are kept at the same time, the newer one stays, whichever is kept last', async () => {
  const key = keyOf('npm ci', 'one')
  for (const builtAt of [2_000, 1_000]) await keep(ours, key, builtAt)
  expect((await findLayer(root, ours, [key], 'setupAndLocks'))?.builtAt).toBe(2_000)
})

test('one that no task asked for counts as used when the earlier one was', async () => {
  await keep(ours, keyOf('npm ci', 'one'), 2_000, 1_000)
  const [layer] = await allLayers(root)
  expect(await lastUsed(layer?.dir ?? '')).toBe(1_000)
  expect(layer && (await commitOfLayer(layer))).toBe(commit)
})

test('one whose end is missing is none', async () => {
  const key = keyOf('npm ci', '')
  await keep(ours, key, 1_000)
  const [layer] = await allLayers(root)
  await writeFile(archivesIn(layer?.dir ?? '').tree, 'tre')
  expect(await findLayer(root, ours, [key], 'setupAndLocks')).toBeUndefined()
})

test('a newer one takes the place of that with the same key, and three are kept of a project', async () => {
  for (const now of [1_000, 2_000]) await keep(ours, keyOf('npm ci', 'one'), now)
  expect((await allLayers(root)).map(({ builtAt }) => builtAt)).toEqual([2_000])
  await keep(theirs, keyOf('npm ci', 'one'), 500)
  for (const [locks, now] of [
    ['two', 3_000],
    ['three', 4_000],
  ] as const)
    await keep(ours, keyOf('npm ci', locks), now)
  for (const { dir, builtAt } of await allLayers(root)) await utimes(dir, builtAt, builtAt)
  // That which was used longest ago goes, even if it is not the oldest.
  await findLayer(root, ours, [keyOf('npm ci', 'one')], 'setupAndLocks')
  await keep(ours, keyOf('npm ci', 'four'), 5_000)
  expect((await allLayers(root)).map(({ builtAt }) => builtAt)).toEqual([5_000, 4_000, 2_000, 500])
})

test('other folders are left alone', async () => {
  await mkdir(join(root, 'environments', 'something'), { recursive: true })
  expect(await allLayers(root)).toEqual([])
})
