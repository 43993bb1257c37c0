import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeScene, testGit, type Scene } from '../../../tests/runner/workspaceScene.ts'
import { environmentKey, lockFilesAt } from './environmentKey.ts'

let scene: Scene
afterEach(() => scene.remove())
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n', 'web/package-lock.json': '{}' })
})

test('the lock files of a commit count, wherever they are, and nothing else', async () => {
  const { mirrorDir, startCommit } = await scene.prepare({ taskId: 'one', workingBranch: 'flightdeck/one' })
  const locks = () => lockFilesAt(testGit, mirrorDir, startCommit ?? '')
  expect(await locks()).toBe(await locks())
  const other = await makeScene({ 'README.md': '# Other\n', 'web/package-lock.json': '{}' })
  const another = await makeScene({ 'README.md': '# Sample\n', 'web/package-lock.json': '{ }' })
  try {
    const hashOf = async ({ prepare }: Scene) => {
      const made = await prepare({ taskId: 'one', workingBranch: 'flightdeck/one' })
      return lockFilesAt(testGit, made.mirrorDir, made.startCommit ?? '')
    }
    expect(await hashOf(other)).toBe(await locks())
    expect(await hashOf(another)).not.toBe(await locks())
  } finally {
    await other.remove()
    await another.remove()
  }
})

const identity = { command: 'npm ci', variables: [], system: 'host', branch: 'main', locks: 'a' }

// Attacks layers: a branch that an agent pushed decides what tasks of other branches get.
test.each([
  { command: 'make' },
  { variables: [{ name: 'STAGE', value: 'test' }] },
  { system: 'image' },
  // Whoever may write to one branch must not decide what runs on another.
  { branch: 'flightdeck/of-an-agent' },
])('another setup has another key: %o', (changed) => {
  const [one, other] = [identity, { ...identity, ...changed }].map(environmentKey)
  expect(other?.setup).not.toBe(one?.setup)
  expect(other?.whole).not.toBe(one?.whole)
})

test('other lock files are the same setup', () => {
  const [one, other] = [identity, { ...identity, locks: 'b' }].map(environmentKey)
  expect(other?.setup).toBe(one?.setup)
  expect(other?.whole).not.toBe(one?.whole)
})
