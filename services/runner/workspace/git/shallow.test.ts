import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { restoreWork, saveWork } from '../saved/bundle.ts'
import { readChanges } from '../changes/changes.ts'
import { gitText } from './git.ts'
import type { Git } from './git.ts'
import { mayBeShallow, openMirrors } from './mirror.ts'
import { refsOf } from './refs.ts'
import { commitAndPush } from '../publish/publish.ts'
import { startGitServer } from '../../../../tests/runner/gitServer.ts'
import type { TestGitServer } from '../../../../tests/runner/gitServer.ts'
import { makeScene, testGit, testPath, writeIn, unexpected } from '../../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../../tests/runner/workspaceScene.ts'
import { createOrFindWorkspace } from '../createWorkspace.ts'
import { hasWorkAside } from '../changes/workAside.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

/** A host that says before all else that there is much to fetch. */
const telling =
  (objects: number): Git =>
  (call) => {
    if (call.args[0] === 'fetch') call.onStderr?.(Buffer.from(`Receiving objects:   0% (1/${objects})\r`))
    return testGit(call)
  }

describe('a large repository', () => {
  let scene: Scene
  let server: TestGitServer
  beforeEach(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    server = await startGitServer(scene.root)
    for (let n = 0; n < 8; n++) await scene.commit({ 'count.txt': `${n}\n` })
    await gitText(testGit, { gitDir: scene.remote, args: ['tag', 'old', 'main~7'] })
    await scene.commit({ 'old.txt': 'old\n' }, 'older')
  })
  afterEach(async () => {
    await server.stop()
    await scene.remove()
  })

  const refresh = async (objects: number, lines: string[] = []) => {
    const mirrors = openMirrors({
      onFault: unexpected,
      root: join(scene.root, 'few'),
      git: telling(objects),
      large: { objects: 1_000, depth: 3 },
    })
    const refreshed = await mirrors.refresh({
      url: `${server.url}/remote.git`,
      owner: 'ada',
      id: '7',
      name: 'sample',
      timeoutMs: 30_000,
      onProgress: (line) => lines.push(line),
    })
    if (refreshed.kind !== 'ready') throw new Error(JSON.stringify(refreshed))
    return refreshed.mirror
  }
  const prepare = async (taskId: string) => {
    const prepared = await createOrFindWorkspace({
      checkCheckout: async () => undefined,
      git: testGit,
      path: testPath,
      root: scene.root,
      taskId,
      mirror: await refresh(5_000),
      baseBranch: 'main',
      workingBranch: 'flightdeck/a-task-12345678',
      originUrl: 'http://localhost/ada/sample.git',
      identity: { name: 'claude', email: 'noreply@anthropic.com' },
      owner: undefined,
    })
    if (prepared.kind !== 'ready') throw new Error(prepared.kind)
    return prepared.workspace
  }
  const commitsOf = async (gitDir: string, ref: string) =>
    Number(await gitText(testGit, { gitDir, args: ['rev-list', '--count', ref] }))

  test('is fetched with the end of its history, and says so; another is fetched whole', async () => {
    const lines: string[] = []
    const { dir } = await refresh(5_000, lines)
    expect(await commitsOf(dir, 'refs/heads/main')).toBe(3)
    expect(lines).toContain(
      'ada/sample has more than 1000 objects: of its history, the last 3 commits of each branch are fetched.',
    )
    expect(await gitText(testGit, { gitDir: dir, args: ['tag'] })).toBe('')
    const whole = await scene.refresh()
    expect(await commitsOf(whole.dir, 'refs/heads/main')).toBe(9)
  })

  test('is told by its mirror, and by the size of one that was cloned whole', async () => {
    const { dir } = await refresh(5_000)
    expect(await mayBeShallow(testGit, dir)).toBe(true)
    const whole = await scene.refresh()
    const told = await gitText(testGit, { gitDir: scene.remote, args: ['rev-list', '--objects', '--all'] })
    const objects = told.split('\n').length
    expect(await mayBeShallow(testGit, whole.dir, { objects, depth: 3 })).toBe(false)
    expect(await mayBeShallow(testGit, whole.dir, { objects: objects - 1, depth: 3 })).toBe(true)
    expect(await mayBeShallow(testGit, whole.dir)).toBe(false)
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('has all that is new from then on', async () => {
      await refresh(5_000)
      for (let n = 0; n < 5; n++) await scene.commit({ 'count.txt': `later ${n}\n` })
      const { dir } = await refresh(10)
      expect(await commitsOf(dir, 'refs/heads/main')).toBe(8)
    })
  })

  test('is worked on as any other: changes, what was done to its base, the push, a bundle', async () => {
    const workspace = await prepare('one')
    await writeIn(workspace.dir, 'count.txt', 'ours\n')
    const agents = ['-C', workspace.dir, '-c', 'safe.directory=*', 'log', '--format=%s']
    const env = { PATH: testPath, GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects }
    expect(execFileSync('git', agents, { env, encoding: 'utf8' }).trim().split('\n')).toHaveLength(3)
    for (let n = 0; n < 5; n++) await scene.commit({ 'other.txt': `${n}\n` })
    await refresh(10)
    const read = (baseBranch: string) =>
      readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch })
    expect(await read('main')).toMatchObject({
      ahead: 0,
      behind: 5,
      files: [{ fileName: 'count.txt', status: 'modified', additions: 1, deletions: 1 }],
    })
    // Where the two parted was not fetched: what the other has now is compared with.
    const against = await read('older')
    expect(against.kind === 'changes' && against.files.map(({ fileName }) => fileName)).toEqual([
      'README.md',
      'count.txt',
      'old.txt',
    ])

    const saved = await saveWork({ git: testGit, treeGit: testGit, workspace })
    if (saved.kind !== 'saved') throw new Error(saved.kind)
    const other = await prepare('two')
    const { bundle } = saved
    const restored = await restoreWork({ git: testGit, path: testPath, workspace: other, bundle })
    expect(restored.kind).toBe('restored')
    expect(await readFile(join(other.dir, 'count.txt'), 'utf8')).toBe('ours\n')

    const published = await commitAndPush({
      git: testGit,
      treeGit: testGit,
      workspace: other,
      message: 'Work',
      author: { name: 'Ada', email: 'ada@example.com' },
      secrets: [],
      url: scene.remote,
    })
    expect(published).toMatchObject({ kind: 'published', pushed: true })
    expect(await commitsOf(scene.remote, other.branch)).toBe(10)
  })

  const person = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Ada'],
      [`GIT_${who}_EMAIL`, 'ada@example.com'],
    ]),
  )
  const tag = (gitDir: string, name: string, commit: string, ...options: string[]) =>
    gitText(testGit, {
      gitDir,
      env: person,
      args: ['tag', ...options, '--annotate', '-m', `${name} of ${commit}`, name, commit],
    })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('is not kept by the tags that a fetch of the agent brings, but by one that only the agent has', async () => {
      await tag(scene.remote, 'v1', 'main~1')
      const workspace = await prepare('one')
      const gitDir = join(workspace.dir, '.git')
      const tagsFetched = async (...refspecs: string[]) => {
        const args = ['fetch', '--', scene.remote, '+refs/heads/*:refs/remotes/origin/*', ...refspecs]
        const objects = { GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects }
        await gitText(testGit, { gitDir, env: objects, args })
        return gitText(testGit, { gitDir, args: ['tag'] })
      }
      expect(await tagsFetched()).toBe('v1')
      expect(await hasWorkAside(testGit, workspace)).toBe(false)

      await scene.commit({ 'count.txt': 'later\n' })
      await tag(scene.remote, 'v2', 'main')
      expect(await tagsFetched()).toBe('v1\nv2')
      await refresh(10)
      expect(await hasWorkAside(testGit, workspace)).toBe(false)

      await tag(scene.remote, 'v2', 'main~1', '--force')
      await tagsFetched('+refs/tags/v2:refs/tags/v2')
      expect(await hasWorkAside(testGit, workspace)).toBe(true)
      await refresh(10)
      expect(await hasWorkAside(testGit, workspace)).toBe(false)
      await tag(gitDir, 'mine', 'origin/main')
      expect(await hasWorkAside(testGit, workspace)).toBe(true)
    })

    test('keeps up with hundreds of tags that move, whatever their names; old ones bring no history', async () => {
      const deep = `${'d/'.repeat(200)}d`
      const many = ['-d', '--stdin', '-z', deep, ...Array.from({ length: 600 }, (_, n) => `t${n}`)]
      const change = (line: string, names: readonly string[]) =>
        gitText(testGit, {
          gitDir: scene.remote,
          args: ['update-ref', '--stdin'],
          input: names.map((name) => `${line.replace('TAG', `refs/tags/${name}`)}\n`).join(''),
        })
      const tagsOf = (gitDir: string) => refsOf(testGit, gitDir, ['refs/tags'])
      await change('create TAG refs/heads/main', [...many, 'v1', 'v2/linux'])
      const { dir } = await refresh(5_000)
      expect((await tagsOf(dir)).size).toBe(many.length + 2)

      await change('delete TAG', ['v1', 'v2/linux'])
      await change('update TAG refs/heads/main~1', [...many, 'v1/linux', 'v2'])
      await gitText(testGit, { gitDir: scene.remote, args: ['pack-refs', '--all'] })
      await refresh(10)
      const there = new Map(await tagsOf(scene.remote))
      there.delete('refs/tags/old')
      expect(await tagsOf(dir)).toEqual(there)

      await change('update TAG refs/tags/old', [...many, 'v1/linux', 'v2'])
      await refresh(10)
      expect(await tagsOf(dir)).toEqual(new Map())
      expect(await commitsOf(dir, '--all')).toBe(4)
    })
  })
})

describe('repository F3: a shallow clone as the host', () => {
  let scene: Scene
  let server: TestGitServer
  beforeEach(async () => {
    scene = await makeScene({ 'a.txt': '1\n' })
    await scene.commit({ 'a.txt': '2\n' })
    const args = [
      'clone',
      '--quiet',
      '--bare',
      '--depth=1',
      '--',
      `file://${scene.remote}`,
      `${scene.remote}.cut`,
    ]
    await gitText(testGit, { args })
    await gitText(testGit, { gitDir: `${scene.remote}.cut`, args: ['config', 'http.receivepack', 'true'] })
    server = await startGitServer(scene.root)
  })
  afterEach(async () => {
    await server.stop()
    await scene.remove()
  })
  const mirrorBy = (git: Git, name = 'remote.git.cut') =>
    openMirrors({ onFault: unexpected, root: join(scene.root, 'of-cut'), git }).refresh({
      url: `${server.url}/${name}`,
      owner: 'ada',
      id: '7',
      name: 'sample',
      timeoutMs: 30_000,
    })

  test('is worked on and published to', async () => {
    const refreshed = await mirrorBy(testGit)
    if (refreshed.kind !== 'ready') throw new Error(refreshed.kind)
    const prepared = await createOrFindWorkspace({
      checkCheckout: async () => undefined,
      git: testGit,
      path: testPath,
      root: scene.root,
      taskId: '0199c6c2-1111-7000-8000-000000000009',
      mirror: refreshed.mirror,
      baseBranch: 'main',
      workingBranch: 'flightdeck/a-task-12345678',
      originUrl: 'http://localhost/ada/sample.git',
      identity: { name: 'claude', email: 'noreply@anthropic.com' },
      owner: undefined,
    })
    if (prepared.kind !== 'ready') throw new Error(prepared.kind)
    const { workspace } = prepared
    expect(await readFile(join(workspace.dir, 'a.txt'), 'utf8')).toBe('2\n')
    await writeIn(workspace.dir, 'b.txt', 'b\n')
    const changes = await readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch: 'main' })
    expect(changes.kind === 'changes' && changes.files.map(({ fileName }) => fileName)).toEqual(['b.txt'])
    const published = await commitAndPush({
      git: testGit,
      treeGit: testGit,
      workspace,
      message: 'Add b',
      author: { name: 'Ada', email: 'ada@example.com' },
      secrets: [],
      url: `${server.url}/remote.git.cut`,
    })
    expect(published).toMatchObject({ kind: 'published', pushed: true })
  })

  test('and any other host whose branches do not come is not called empty', async () => {
    const fetchingNothing: Git = (call) =>
      testGit(call.args[0] === 'fetch' ? { ...call, args: ['version'] } : call)
    expect(await mirrorBy(fetchingNothing)).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(
        /^ada\/sample has branches at the code host, and none of them could be fetched\./,
      ),
    })
    await gitText(testGit, { gitDir: scene.remote, args: ['tag', 'v1', 'main'] })
    await gitText(testGit, { gitDir: scene.remote, args: ['update-ref', '-d', 'refs/heads/main'] })
    expect(await mirrorBy(testGit, 'remote.git')).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/^ada\/sample has no branch at the code host, but other refs\./),
    })
    await gitText(testGit, { gitDir: scene.remote, args: ['update-ref', '-d', 'refs/tags/v1'] })
    expect(await mirrorBy(testGit, 'remote.git')).toMatchObject({ kind: 'ready' })
  })
})
