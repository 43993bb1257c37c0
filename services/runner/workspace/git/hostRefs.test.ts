import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Git } from './git.ts'
import { gitOrThrow } from './git.ts'
import { refsOf } from './refs.ts'
import { hostRefs, refsIn } from './hostRefs.ts'
import { openMirrors } from './mirror.ts'
import { startGitServer, type TestGitServer } from '../../../../tests/runner/gitServer.ts'
import { makeScene, testGit, type Scene, unexpected } from '../../../../tests/runner/workspaceScene.ts'

const authorization = 'basic eC1hY2Nlc3MtdG9rZW46Z2h1X3NlY3JldA=='
let scene: Scene
let server: TestGitServer
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n' })
  server = await startGitServer(scene.root, authorization)
})
afterEach(async () => {
  await server.stop()
  await scene.remove()
})
const asked = () => ({ url: `${server.url}/remote.git`, authorization })
const set = (...args: readonly string[]) =>
  gitOrThrow(testGit, { gitDir: scene.remote, args: ['update-ref', ...args] })

test('branches and tags are what git says that they are', async () => {
  const side = await scene.commit({ 'side.txt': 'side\n' }, 'side/ways')
  await set('refs/tags/v1', side)
  await set('refs/notes/commits', side)
  const all = await refsOf(testGit, scene.remote, ['refs/heads', 'refs/tags'])
  expect([...all.keys()]).toEqual(['refs/heads/main', 'refs/heads/side/ways', 'refs/tags/v1'])
  expect(await hostRefs(asked())).toEqual(all)
})

test('an empty repository has none, which is an answer', async () => {
  await gitOrThrow(testGit, { args: ['init', '--quiet', '--bare', '--', join(scene.root, 'empty.git')] })
  expect(await hostRefs({ ...asked(), url: `${server.url}/empty.git` })).toEqual(new Map())
})

test('who is not let in learns nothing, and a redirect is not followed', async () => {
  expect(await hostRefs({ url: asked().url })).toBeUndefined()
  const other = await startGitServer(scene.root)
  onTestFinished(() => other.stop())
  server.redirectTo(other.url)
  expect(await hostRefs(asked())).toBeUndefined()
  expect(other.authorizations).toEqual([])
})

test.each([
  ['a host that is not there', 'http://127.0.0.1:1/ada/sample.git'],
  ['a path', '/srv/git/sample.git'],
  ['what is no address', 'ext::touch ran'],
])('%s is for git to tell about', async (_, url) => expect(await hostRefs({ url })).toBeUndefined())

test('a host that does not answer is left when the run stops', async () => {
  server.hang()
  const stop = new AbortController()
  const asking = hostRefs({ ...asked(), signal: stop.signal })
  await expect.poll(() => server.authorizations.length).toBeGreaterThan(0)
  stop.abort()
  expect(await asking).toBeUndefined()
})

test('an answer without an end is left at the limit', async () => {
  const endless = createServer((_request, response) => {
    const line = `003d${'a'.repeat(40)} refs/heads/main-0000\n`
    const more = () => {
      while (response.write(line.repeat(10_000)));
      response.once('drain', more)
    }
    more()
  })
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    endless.closeAllConnections()
    endless.close()
  })
  const address = endless.address()
  const port = typeof address === 'object' ? address?.port : undefined
  expect(await hostRefs({ url: `http://127.0.0.1:${port}` })).toBeUndefined()
})

const commit = 'c'.repeat(40)
const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
test.each([
  ['nothing', ''],
  ['an error', line('ERR access denied\n')],
  ['a page', '<!doctype html><p>Sign in</p>'],
  ['a line that is cut off', `${line(`${commit} refs/heads/main\n`)}0041${commit}`],
  ['lines without an end', line(`${commit} refs/heads/main\n`)],
  ['more after the end', `0000${line(`${commit} refs/heads/main\n`)}`],
  ['a line that says that it is shorter than its length', `0003${commit}`],
  ['a hash of another kind', `${line(`${'c'.repeat(64)} refs/heads/main\n`)}0000`],
  ['a name with a space', `${line(`${commit} refs/heads/a b\n`)}0000`],
])('%s is no answer', (_, text) => expect(refsIn(Buffer.from(text))).toBeUndefined())

describe('a mirror', () => {
  async function opened() {
    const calls: string[] = []
    const git: Git = (call) => {
      calls.push(String(call.args[0]))
      return testGit(call)
    }
    const mirrors = openMirrors({ root: join(scene.root, 'mirrors'), git, onFault: unexpected })
    const refresh = async (more: { readonly authorization?: string } = {}) => {
      calls.length = 0
      const request = { ...asked(), owner: 'ada', name: 'sample', id: '7', timeoutMs: 20_000, ...more }
      const result = await mirrors.refresh(request)
      return { kind: result.kind, fetched: calls.includes('fetch'), result }
    }
    await refresh()
    return refresh
  }

  test('is not fetched while nothing is new', async () => {
    const refresh = await opened()
    expect(await refresh()).toMatchObject({ kind: 'ready', fetched: false })
  })

  test.each([
    ['a commit', () => scene.commit({ 'README.md': '# Changed\n' })],
    ['a branch', () => scene.commit({ 'side.txt': 'side\n' }, 'side')],
    ['a tag', () => set('refs/tags/v1', 'refs/heads/main')],
  ])('is fetched for %s, and then no more', async (_, change) => {
    const refresh = await opened()
    await change()
    const { result, ...first } = await refresh()
    expect(first).toEqual({ kind: 'ready', fetched: true })
    if (result.kind !== 'ready') throw new Error(result.kind)
    expect(await refsOf(testGit, result.mirror.dir)).toEqual(await refsOf(testGit, scene.remote))
    expect(await refresh()).toMatchObject({ kind: 'ready', fetched: false })
  })

  test('is fetched when a branch is gone, and keeps a tag that is', async () => {
    await scene.commit({ 'side.txt': 'side\n' }, 'side')
    await set('refs/tags/v1', 'refs/heads/main')
    const refresh = await opened()
    await set('-d', 'refs/tags/v1')
    expect(await refresh()).toMatchObject({ kind: 'ready', fetched: false })
    await set('-d', 'refs/heads/side')
    expect(await refresh()).toMatchObject({ kind: 'ready', fetched: true })
    expect(await refresh()).toMatchObject({ kind: 'ready', fetched: false })
  })

  test('that is there is refused to who may not reach the repository', async () => {
    const refresh = await opened()
    expect(await refresh({ authorization: 'basic bm9ib2R5' })).toMatchObject({ kind: 'unauthorized' })
  })
})
