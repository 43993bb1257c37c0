import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { failed, type Failed } from './failure.ts'
import { prepareConcurrently, type Prepared } from './prepareConcurrently.ts'
import type { Mirror } from '../workspace/git/mirror.ts'
import { makeScene, testGit, testPath, testTaskId, type Scene } from '../../../tests/runner/workspaceScene.ts'
import { baseCommitsFor, createOrFindWorkspace } from '../workspace/createWorkspace.ts'
import { hasWorkspace, removeWorkspace } from '../workspace/workspace.ts'

const branches = { baseBranch: 'main', workingBranch: 'flightdeck/a-task-12345678' }
let scene: Scene
let mirror: Mirror
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Before\n' })
  mirror = await scene.refresh()
})
afterEach(() => scene.remove())

const make = vi.fn<(on: Mirror) => Promise<Prepared | Failed>>(async (on) => {
  const prepared = await createOrFindWorkspace({
    checkCheckout: async () => undefined,
    ...branches,
    git: testGit,
    path: testPath,
    root: scene.root,
    taskId: testTaskId,
    mirror: on,
    originUrl: 'http://localhost/ada/sample.git',
    identity: { name: 'Ada', email: 'ada@example.com' },
    owner: undefined,
  })
  return prepared.kind === 'ready' ? prepared : failed('clone_failed', prepared.kind)
})
afterEach(() => make.mockClear())
const making = {
  find: async (): Promise<Mirror | undefined> => mirror,
  make,
  ground: (on: Mirror) => baseCommitsFor(testGit, on, branches),
  close: async () => undefined,
  remove: () => removeWorkspace(scene.root, testTaskId, testPath),
}
const ready = async () => ({ kind: 'ready' as const, mirror: await scene.refresh() })
const readme = ({ workspace }: Prepared) => readFile(join(workspace.dir, 'README.md'), 'utf8')

test('where nothing has moved the workspace is made once, before the refresh has ended', async () => {
  let end = (): void => undefined
  const held = new Promise<void>((resolve) => (end = resolve))
  const prepared = prepareConcurrently(held.then(ready), making)
  await vi.waitFor(async () => expect(await hasWorkspace(scene.root, testTaskId)).toBe(true))
  end()
  expect(await prepared).toMatchObject({ kind: 'ready', madeOn: { branch: branches.workingBranch } })
  expect(make).toHaveBeenCalledOnce()
})

test('where the base has moved meanwhile it is made again, where it is now', async () => {
  const commit = await scene.commit({ 'README.md': '# After\n' })
  const prepared = await prepareConcurrently(
    vi.waitFor(async () => expect(await hasWorkspace(scene.root, testTaskId)).toBe(true)).then(ready),
    making,
  )
  if (prepared.kind !== 'ready') throw new Error(prepared.reason)
  expect(prepared.workspace.startCommit).toBe(commit)
  expect(await readme(prepared)).toBe('# After\n')
  expect(make).toHaveBeenCalledTimes(2)
})

test('a branch that has only just come is found', async () => {
  const before = { ...mirror, dir: join(scene.root, 'no-such-mirror') }
  const prepared = await prepareConcurrently(ready(), { ...making, find: async () => before })
  expect(prepared).toMatchObject({ kind: 'ready' })
})

test.each([
  ['who is refused', async () => failed('clone_failed', 'It cannot be read with your access.')],
  [
    'who cannot be asked for',
    async () => {
      throw new Error('The host is gone.')
    },
  ],
])('nothing is left for %s', async (_, refresh) => {
  const prepared = await prepareConcurrently(refresh(), making).catch((fault: Error) => fault.message)
  expect(prepared).not.toHaveProperty('workspace')
  expect(make).toHaveBeenCalledOnce()
  expect(await hasWorkspace(scene.root, testTaskId)).toBe(false)
})

test('a workspace that was there before stays, whatever the host says', async () => {
  await make(mirror)
  const refused = failed('clone_failed', 'It cannot be read with your access.')
  expect(await prepareConcurrently(Promise.resolve(refused), making)).toBe(refused)
  expect(await hasWorkspace(scene.root, testTaskId)).toBe(true)
  expect(await prepareConcurrently(ready(), making)).toMatchObject({ kind: 'ready', madeOn: null })
})

test('what was begun in one that was not made is ended before it is made again', async () => {
  const seen: string[] = []
  const prepared = await prepareConcurrently(ready(), {
    ...making,
    async make(on) {
      seen.push('make')
      if (seen.length === 1) throw new Error('The disk is full.')
      return make(on)
    },
    close: async () => void seen.push('close'),
  })
  expect(prepared).toMatchObject({ kind: 'ready' })
  expect(seen).toEqual(['make', 'close', 'make'])
})

test('without a mirror it is made when there is one', async () => {
  expect(await prepareConcurrently(ready(), { ...making, find: async () => undefined })).toMatchObject({
    kind: 'ready',
  })
  expect(make).toHaveBeenCalledOnce()
})
