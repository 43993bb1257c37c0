import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitOf, gitText } from './git.ts'
import { openMirrors, progressLines } from './mirror.ts'
import { refsOf } from './refs.ts'
import type { Mirrors, RefreshResult } from './mirror.ts'
import { startGitServer } from '../../../../tests/runner/gitServer.ts'
import type { TestGitServer } from '../../../../tests/runner/gitServer.ts'
import { makeScene, testGit, unexpected } from '../../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../../tests/runner/workspaceScene.ts'

const authorization = `basic ${Buffer.from('x-access-token:ghu_secret').toString('base64')}`

let scene: Scene
let server: TestGitServer
let mirrors: Mirrors
const ada = () => ({
  url: `${server.url}/remote.git`,
  owner: 'ada',
  id: '7',
  name: 'sample',
  authorization,
  timeoutMs: 20_000,
})

beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n' })
  server = await startGitServer(scene.root, authorization)
  mirrors = openMirrors({ root: join(scene.root, 'mirrors'), git: testGit, onFault: unexpected })
})
afterEach(async () => {
  await server.stop()
  await scene.remove()
})

describe('a host on a bad day', () => {
  test.each([
    ['info/refs is refused with 502', /info\/refs/, { status: 502 }],
    ['the pack is refused with 503', /POST .*upload-pack/, { status: 503 }],
    ['the connection breaks', /info\/refs/, 'cut before'],
    ['the connection breaks in the pack', /POST .*upload-pack/, 'cut after'],
  ] as const)('github 3.1: a clone goes on where once %s', async (_, of, how) => {
    server.meet(of, how)
    expect(ready(await mirrors.refresh(ada())).cloned).toBe(true)
  })

  test('github 3.1: so does a fetch, and what fails twice is told', async () => {
    const { mirror } = ready(await mirrors.refresh(ada()))
    const head = await scene.commit({ 'README.md': '# Changed\n' })
    // The first request asks whether there is anything new.
    server.meet(/upload-pack/, { status: 502 }, { status: 502 })
    ready(await mirrors.refresh(ada()))
    expect(await commitOf(testGit, mirror.dir, 'refs/heads/main')).toBe(head)
    await scene.commit({ 'README.md': '# Changed again\n' })
    server.meet(/upload-pack/, ...[1, 2, 3, 4, 5, 6].map(() => ({ status: 502 })))
    expect(await mirrors.refresh(ada())).toMatchObject({ kind: 'unreachable' })
  })
})

describe('a mirror over HTTP', () => {
  test('is cloned once, then fetched; branches that are gone go, their objects stay', async () => {
    const lines: string[] = []
    const first = ready(await mirrors.refresh({ ...ada(), onProgress: (line) => lines.push(line) }))
    expect(first.cloned).toBe(true)
    expect(lines[0]).toBe('Cloning ada/sample…')
    const gone = await scene.commit({ 'side.txt': 'side\n' }, 'side')
    expect(ready(await mirrors.refresh(ada())).cloned).toBe(false)
    expect(await commitOf(testGit, first.mirror.dir, 'refs/heads/side')).toBe(gone)

    await gitText(testGit, { gitDir: scene.remote, args: ['update-ref', '-d', 'refs/heads/side'] })
    const head = await scene.commit({ 'README.md': '# Changed\n' })
    await mirrors.refresh(ada())
    expect(await commitOf(testGit, first.mirror.dir, 'refs/heads/side')).toBeNull()
    expect(await commitOf(testGit, first.mirror.dir, gone)).toBe(gone)
    expect(await commitOf(testGit, first.mirror.dir, 'refs/heads/main')).toBe(head)
  })

  test('says that it fetches only where there is something to fetch', async () => {
    const told = async () => {
      const lines: string[] = []
      ready(await mirrors.refresh({ ...ada(), onProgress: (line) => lines.push(line) }))
      return lines[0]
    }
    expect(await told()).toBe('Cloning ada/sample…')
    expect(await told()).toBeUndefined()
    await scene.commit({ 'README.md': '# Changed\n' })
    expect(await told()).toBe('Fetching ada/sample…')
    expect(await told()).toBeUndefined()
  })

  test('the header reaches the host and no file', async () => {
    const { mirror } = ready(await mirrors.refresh(ada()))
    expect(new Set(server.authorizations)).toEqual(new Set([authorization]))
    const secret = authorization.slice('basic '.length)
    for (const entry of await readdir(mirror.dir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      expect((await readFile(join(entry.parentPath, entry.name))).includes(secret)).toBe(false)
    }
  })

  test('each person is let in by their own access, also to a mirror that is there', async () => {
    await mirrors.refresh(ada())
    const grace = await mirrors.refresh({ ...ada(), authorization: 'basic bm9ib2R5' })
    expect(grace).toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('ada/sample cannot be read'),
    })
    expect(JSON.stringify(grace)).not.toContain('bm9ib2R5')
  })

  test('an empty repository has an empty mirror', async () => {
    await gitText(testGit, { args: ['init', '--quiet', '--bare', '--', join(scene.root, 'empty.git')] })
    const result = await mirrors.refresh({ ...ada(), url: `${server.url}/empty.git`, name: 'empty' })
    expect(ready(result).cloned).toBe(true)
  })

  test('a repository with hashes of another kind is told of', async () => {
    const args = ['init', '--quiet', '--bare', '--object-format=sha256', '--', join(scene.root, 'long.git')]
    await gitText(testGit, { args })
    const gitDir = join(scene.root, 'long.git')
    const tree = await gitText(testGit, { gitDir, args: ['hash-object', '-w', '-t', 'tree', '/dev/null'] })
    const env = {
      GIT_AUTHOR_NAME: 'x',
      GIT_AUTHOR_EMAIL: 'x',
      GIT_COMMITTER_NAME: 'x',
      GIT_COMMITTER_EMAIL: 'x',
    }
    const commit = await gitText(testGit, { gitDir, env, args: ['commit-tree', '-m', 'First', tree] })
    await gitText(testGit, { gitDir, args: ['update-ref', 'refs/heads/main', commit] })
    const result = await mirrors.refresh({ ...ada(), url: `${server.url}/long.git`, name: 'long' })
    expect(result).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('sha256') })
  })

  test.each([
    ['over HTTP', () => ada().url],
    // So the host's tags are known to git alone.
    ['by a path', () => scene.remote],
  ])('a tag that becomes a folder of tags, and back, is no hindrance %s', async (_, url) => {
    const set = (...args: string[]) =>
      gitText(testGit, { gitDir: scene.remote, args: ['update-ref', ...args] })
    const refresh = async () => ready(await mirrors.refresh({ ...ada(), url: url() })).mirror.dir
    const old = await scene.commit({ 'old.txt': 'old\n' }, 'old')
    await set('refs/tags/v1', old)
    await set('refs/tags/v2/linux', 'refs/heads/main')
    await refresh()
    for (const gone of ['refs/heads/old', 'refs/tags/v1', 'refs/tags/v2/linux']) await set('-d', gone)
    await set('refs/tags/v1/linux', 'refs/heads/main')
    await set('refs/tags/v2', 'refs/heads/main')
    const dir = await refresh()
    expect(await refsOf(testGit, dir)).toEqual(await refsOf(testGit, scene.remote))
    expect(await commitOf(testGit, dir, old)).toBe(old)
    await scene.commit({ 'README.md': '# Changed\n' })
    await refresh()
    expect(await refsOf(testGit, dir)).toEqual(await refsOf(testGit, scene.remote))
  })

  test('tags that cannot be written are no hindrance, and somebody is told', async () => {
    const faults: unknown[] = []
    const root = join(scene.root, 'mirrors')
    mirrors = openMirrors({ root, git: testGit, onFault: (fault) => faults.push(fault) })
    const first = await commitOf(testGit, scene.remote, 'refs/heads/main')
    // With the ending of its lock, this is longer than a file's name may be.
    const packed = join(scene.remote, 'packed-refs')
    await writeFile(
      packed,
      `# pack-refs with: peeled fully-peeled sorted \n${first} refs/tags/${'x'.repeat(252)}\n`,
    )
    const { mirror, cloned } = ready(await mirrors.refresh(ada()))
    expect(cloned).toBe(true)
    expect(await commitOf(testGit, mirror.dir, 'refs/heads/main')).toBe(first)
    expect(faults).toEqual([expect.objectContaining({ name: 'GitFault' })])
    const head = await scene.commit({ 'README.md': '# Changed\n' })
    expect(ready(await mirrors.refresh(ada())).cloned).toBe(false)
    expect(await commitOf(testGit, mirror.dir, 'refs/heads/main')).toBe(head)
    expect(faults).toHaveLength(2)
    await rm(packed)
    ready(await mirrors.refresh(ada()))
    expect(faults).toHaveLength(2)
  })

  test('what is not there is refused, and nothing half-made is left', async () => {
    const result = await mirrors.refresh({ ...ada(), url: `${server.url}/missing.git`, name: 'missing' })
    expect(result.kind).toBe('refused')
    expect(await readdir(join(scene.root, 'mirrors', 'ada'))).toEqual([])
  })

  test('a host that is not there is unreachable', async () => {
    await server.stop()
    const result = await mirrors.refresh(ada())
    expect(result).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('ada/sample') })
  })

  test('a host that does not answer ends at the time limit', async () => {
    server.hang()
    const result = await mirrors.refresh({ ...ada(), timeoutMs: 300 })
    expect(result.kind).toBe('timed_out')
    expect(await readdir(join(scene.root, 'mirrors', 'ada'))).toEqual([])
  })

  test('stops when it is told to', async () => {
    server.hang()
    const controller = new AbortController()
    const refreshing = mirrors.refresh({ ...ada(), signal: controller.signal })
    await expect.poll(() => server.authorizations.length).toBeGreaterThan(0)
    controller.abort()
    expect(await refreshing).toEqual({ kind: 'aborted' })
  })

  test('the header follows no redirect', async () => {
    const other = await startGitServer(scene.root)
    server.redirectTo(other.url)
    expect((await mirrors.refresh(ada())).kind).not.toBe('ready')
    expect(other.authorizations).toEqual([])
    await other.stop()
  })

  test('refreshes of one repository wait for each other', async () => {
    const results = await Promise.all([1, 2, 3].map(() => mirrors.refresh(ada())))
    expect(results.map((result) => ready(result).cloned)).toEqual([true, false, false])
  })

  test('locks and half a pack that a killed git left are no hindrance', async () => {
    const { mirror } = ready(await mirrors.refresh(ada()))
    for (const left of ['packed-refs.lock', 'refs/heads/main.lock', 'objects/pack/tmp_pack_x'])
      await writeFile(join(mirror.dir, left), '')
    const head = await scene.commit({ 'README.md': '# Changed\n' })
    expect(ready(await mirrors.refresh(ada())).cloned).toBe(false)
    expect(await commitOf(testGit, mirror.dir, 'refs/heads/main')).toBe(head)
    expect(await readdir(join(mirror.dir, 'objects', 'pack'))).not.toContain('tmp_pack_x')
  })

  test('neither an option nor a command passes for an address', async () => {
    const ran = join(scene.root, 'ran')
    for (const url of [`--upload-pack=touch ${ran}`, `ext::touch ${ran}`, `-c core.sshCommand=touch ${ran}`])
      expect((await mirrors.refresh({ ...ada(), url })).kind).toBe('unreachable')
    await expect(lstat(ran)).rejects.toThrow('ENOENT')
  })
})

test('progress is told when a step is done, and once a second', () => {
  const lines: string[] = []
  let now = 0
  const push = progressLines(
    (line) => lines.push(line),
    () => now,
  )
  push(Buffer.from('remote: Counting objects: 100% (3/3), done.\r\nReceiving obj'))
  for (const percent of [1, 2, 11, 12, 100]) {
    now += 400
    push(Buffer.from(`ects:  ${percent}% (1/9)\rReceiving obj`))
  }
  expect(lines).toEqual([
    'remote: Counting objects: 100% (3/3), done.',
    'Receiving objects:  11% (1/9)',
    'Receiving objects:  100% (1/9)',
  ])
})

function ready(result: RefreshResult) {
  if (result.kind !== 'ready') throw new Error(JSON.stringify(result))
  return result
}
