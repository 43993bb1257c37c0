import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeScene, testGit, type Scene } from '../../../tests/runner/workspaceScene.ts'
import { containerSandbox } from '../sandbox/container/container.ts'
import { containerEngine } from '../sandbox/container/engine.ts'
import { environmentKey, keyFilesAt, systemOf } from './environmentKey.ts'

let scene: Scene
afterEach(() => scene.remove())
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n', 'web/package-lock.json': '{}' })
})

test('the lock files of a commit count, wherever they are, and nothing else', async () => {
  const { mirrorDir, startCommit } = await scene.prepare({ taskId: 'one', workingBranch: 'flightdeck/one' })
  const locks = async () => (await keyFilesAt(testGit, mirrorDir, startCommit ?? '')).locks
  expect(await locks()).toBe(await locks())
  const other = await makeScene({ 'README.md': '# Other\n', 'web/package-lock.json': '{}' })
  const another = await makeScene({ 'README.md': '# Sample\n', 'web/package-lock.json': '{ }' })
  try {
    const hashOf = async ({ prepare }: Scene) => {
      const made = await prepare({ taskId: 'one', workingBranch: 'flightdeck/one' })
      return (await keyFilesAt(testGit, made.mirrorDir, made.startCommit ?? '')).locks
    }
    expect(await hashOf(other)).toBe(await locks())
    expect(await hashOf(another)).not.toBe(await locks())
  } finally {
    await other.remove()
    await another.remove()
  }
})

test('every ignore file of a commit counts', async () => {
  const { dir } = await scene.refresh()
  const hashes = async (commit: string) => {
    await scene.refresh()
    return keyFilesAt(testGit, dir, commit)
  }
  const before = await hashes(await scene.commit({ 'README.md': '# Other\n' }))
  for (const path of ['.gitignore', 'web/app/.gitignore']) {
    const { ignores, locks } = await hashes(await scene.commit({ [path]: 'deps/\n' }))
    expect(ignores).not.toBe(before.ignores)
    expect(locks).toBe(before.locks)
    await scene.commit({ [path]: null })
  }
})

const identity = {
  command: 'npm ci',
  variables: [],
  system: 'host',
  branch: 'main',
  files: { ignores: 'a', locks: 'a' },
}

// Attacks layers: a branch that an agent pushed decides what tasks of other branches get.
test.each([
  { command: 'make' },
  { variables: [{ name: 'STAGE', value: 'test' }] },
  { system: 'image' },
  // Whoever may write to one branch must not decide what runs on another.
  { branch: 'flightdeck/of-an-agent' },
  // Of an environment that was made with other ignore files, git would show files as new.
  { files: { ignores: 'b', locks: 'a' } },
])('another setup has another key: %o', (changed) => {
  const [one, other] = [identity, { ...identity, ...changed }].map(environmentKey)
  expect(other?.setup).not.toBe(one?.setup)
  expect(other?.setupAndLocks).not.toBe(one?.setupAndLocks)
})

test('an image that was built again is another system, whatever its name is', () => {
  const systemWith = (id: string) =>
    systemOf(
      containerSandbox({
        engine: containerEngine('/nowhere/docker.sock'),
        image: { id, volumes: [] },
        scratch: { make: () => Promise.reject(new Error('nothing is started')) },
        path: '',
        runnerId: '',
        shared: {},
        node: '',
        ownUser: { uid: 0, gid: 0 },
      }),
    )
  expect(systemWith('sha256:a')).toBe(systemWith('sha256:a'))
  expect(systemWith('sha256:a')).not.toBe(systemWith('sha256:b'))
})

test('other lock files are the same setup', () => {
  const [one, other] = [identity, { ...identity, files: { ignores: 'a', locks: 'b' } }].map(environmentKey)
  expect(other?.setup).toBe(one?.setup)
  expect(other?.setupAndLocks).not.toBe(one?.setupAndLocks)
})
