import { afterEach, beforeEach, expect, test } from 'vitest'
import { gitOrThrow } from './git.ts'
import { headsOf, headsWritten, refsOf, refsWritten } from './refs.ts'
import { makeScene, testGit, type Scene } from '../../../../tests/runner/workspaceScene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n' })
})
afterEach(() => scene.remove())
const names = ['main', 'side', 'side/ways', 'gone', 'flightdeck']
const pack = () => gitOrThrow(testGit, { gitDir: scene.remote, args: ['pack-refs', '--all'] })

test('branches are read from the files as git reads them: packed, of their own, and both', async () => {
  const expectTheSame = async () => {
    expect(headsWritten(scene.remote, names)).toEqual(await headsOf(testGit, scene.remote, names))
    expect(await refsWritten(scene.remote)).toEqual(await refsOf(testGit, scene.remote))
  }
  await scene.commit({ 'side.txt': 'side\n' }, 'side/ways')
  await gitOrThrow(testGit, {
    gitDir: scene.remote,
    env: { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
    args: ['tag', '-a', '-m', 'One', 'v1', 'refs/heads/main'],
  })
  await expectTheSame()
  await pack()
  await expectTheSame()
  const after = await scene.commit({ 'README.md': '# After\n' })
  await expectTheSame()
  expect([...headsWritten(scene.remote, names).keys()]).toEqual(['main', 'side/ways'])
  expect(headsWritten(scene.remote, names).get('main')).toBe(after)
})

test('what is no ref is none', async () => {
  await gitOrThrow(testGit, {
    gitDir: scene.remote,
    args: ['symbolic-ref', 'refs/heads/side', 'refs/heads/main'],
  })
  expect([...headsWritten(scene.remote, names).keys()]).toEqual(['main'])
  expect([...((await refsWritten(scene.remote))?.keys() ?? [])]).toEqual(['refs/heads/main'])
  expect(headsWritten(`${scene.remote}/nowhere`, names)).toEqual(new Map())
})

test('more than a few files are left to git', async () => {
  const gitDir = scene.remote
  const input = Array.from({ length: 600 }, (_, n) => `create refs/tags/v${n} refs/heads/main\n`).join('')
  await gitOrThrow(testGit, { gitDir, args: ['update-ref', '--stdin'], input })
  expect(await refsWritten(gitDir)).toBeUndefined()
  await pack()
  expect((await refsWritten(gitDir))?.size).toBe(601)
})
