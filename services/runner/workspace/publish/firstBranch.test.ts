import { mkdtemp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gitText } from '../git/git.ts'
import { makeFirstBranch } from './firstBranch.ts'
import { startGitServer, type TestGitServer } from '../../../../tests/runner/gitServer.ts'
import { makeScene, testGit, type Scene } from '../../../../tests/runner/workspaceScene.ts'

const authorization = 'basic YWRhOnNlY3JldA=='
const author = { name: 'Grace Hopper', email: 'grace@example.com' }

let scene: Scene
let server: TestGitServer
beforeEach(async () => {
  scene = await makeScene()
  server = await startGitServer(scene.root, authorization)
})
afterEach(async () => {
  await server.stop()
  await scene.remove()
})

const make = (asked: Partial<Parameters<typeof makeFirstBranch>[0]> = {}) =>
  makeFirstBranch({
    git: testGit,
    scratch: { make: () => mkdtemp(join(scene.root, 'scratch-')) },
    branch: 'main',
    author,
    url: `${server.url}/remote.git`,
    authorization,
    ...asked,
  })
const atHost = (...args: string[]) => gitText(testGit, { gitDir: scene.remote, args })
const left = async () => (await readdir(scene.root)).filter((name) => name.startsWith('scratch-'))

test('the first branch of an empty repository is a commit of no files, by the person', async () => {
  expect(await make()).toBeNull()
  expect(await atHost('log', '--format=%an <%ae> %s', 'main')).toBe(
    'Grace Hopper <grace@example.com> Initial commit',
  )
  expect(await atHost('ls-tree', 'main')).toBe('')
  expect(await left()).toEqual([])
})

test('of several who make the first branch at once, one does, and the others are told that it is there', async () => {
  const made = await Promise.all(
    ['ada', 'grace', 'mary'].map((name) => make({ author: { name, email: '' } })),
  )
  expect(made.filter((why) => why === null)).toHaveLength(1)
  for (const why of made.filter((why) => why !== null)) expect(why).toMatch(/rejected the push/)
  expect(await atHost('rev-list', '--count', 'main')).toBe('1')
  const theirs = await scene.commit({ 'README.md': 'x' })
  expect(await make()).toMatch(/rejected the push/)
  expect(await atHost('rev-parse', 'main')).toBe(theirs)
  expect(await left()).toEqual([])
})

test.each([
  [
    'who may not push',
    { authorization: 'basic bm8=' },
    /^Nothing was pushed: the code host did not accept your access\.$/,
  ],
  [
    'whom the host does not answer',
    { url: 'http://127.0.0.1:9/remote.git' },
    /^The push did not reach the code host: /,
  ],
])('%s is told so, and nothing is left', async (_, asked, sentence) => {
  expect(await make(asked)).toMatch(sentence)
  expect(await atHost('for-each-ref')).toBe('')
  expect(await left()).toEqual([])
})
