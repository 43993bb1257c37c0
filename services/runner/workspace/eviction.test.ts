import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gitOrThrow } from './git/git.ts'
import { openMirrors } from './git/mirror.ts'
import { commitAndPush } from './publish/publish.ts'
import { openWorkspaceEviction } from './eviction.ts'
import { openLocks } from './locks.ts'
import type { EvictionOptions } from './eviction.ts'
import { makeScene, testGit, testPath, writeIn, unexpected } from '../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../tests/runner/workspaceScene.ts'
import { hasWorkspace } from './workspace.ts'
import type { Workspace } from './workspace.ts'
import { isLongRun } from '../../../tests/longRun.ts'

/** No other limit. */
const plenty = { project: Number.MAX_SAFE_INTEGER, leastFree: 0 }

describe('room on the disk', () => {
  let scene: Scene
  const using = new Set<string>()
  const locks = openLocks()
  const faults: unknown[] = []
  beforeEach(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n', '.gitignore': 'build/\n' })
    using.clear()
    faults.length = 0
  })
  afterEach(async () => {
    await scene.remove()
    if (faults.length > 0) throw faults[0]
  })

  const room = (asked: Partial<EvictionOptions> = {}) =>
    openWorkspaceEviction({
      root: scene.root,
      locks,
      path: testPath,
      git: testGit,
      treeGitFor: () => testGit,
      limits: { budget: 0, ...plenty },
      belongingOf: async () => undefined,
      isInUse: (taskId) => using.has(taskId),
      isDeleted: async () => false,
      isElsewhere: async () => false,
      idleMs: 0,
      onFault: (fault) => faults.push(fault),
      ...asked,
    })
  const prepare = (taskId: string) => scene.prepare({ taskId, workingBranch: `flightdeck/${taskId}` })
  const push = (workspace: Workspace) =>
    commitAndPush({
      git: testGit,
      treeGit: testGit,
      workspace,
      message: 'Work',
      author: { name: 'Ada', email: 'ada@example.com' },
      secrets: [],
      url: scene.remote,
    })
  const usedAt = (taskId: string, seconds: number) =>
    utimes(join(scene.root, 'tasks', taskId, 'ready.json'), seconds, seconds)
  const has = (taskId: string) => hasWorkspace(scene.root, taskId)
  const mirrorsThere = async () => readdir(join(scene.root, 'ada'))

  test('within the budget nothing goes', async () => {
    await prepare('one')
    const cleared = await room({ limits: { budget: 1_000_000_000, ...plenty } }).clear()
    expect(cleared).toMatchObject({ workspaces: [], mirrors: [] })
    expect(cleared.bytes).toBeGreaterThan(10_000)
    expect(await has('one')).toBe(true)
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('environments go before workspaces, the oldest first', async () => {
      await prepare('one')
      await usedAt('one', 1_000)
      const environments = join(scene.root, 'environments')
      const nameOf = (builtAt: number) =>
        [`project`, '0'.repeat(16), '1'.repeat(32), builtAt, 1_000_000].join('.')
      for (const builtAt of [2_000, 3_000]) {
        const dir = join(environments, nameOf(builtAt))
        await mkdir(dir, { recursive: true })
        await writeFile(join(dir, 'tree.tar'), Buffer.alloc(1_000_000))
        await utimes(dir, builtAt, builtAt)
      }
      const { bytes } = await room({ limits: { budget: 1_000_000_000, ...plenty } }).clear()
      await room({ limits: { budget: bytes - 1, ...plenty } }).clear()
      expect(await readdir(environments)).toEqual([nameOf(3_000)])
      expect(await has('one')).toBe(true)
    })
  })

  test('what was used longest ago goes first, and no more than must', async () => {
    for (const taskId of ['one', 'two', 'three']) {
      const workspace = await prepare(taskId)
      await writeIn(workspace.dir, 'build/output.bin', Buffer.alloc(1_000_000))
    }
    await usedAt('one', 2_000)
    await usedAt('two', 1_000)
    const { bytes } = await room({ limits: { budget: 1_000_000_000, ...plenty } }).clear()
    const cleared = await room({ limits: { budget: bytes - 1, ...plenty } }).clear()
    expect(cleared).toMatchObject({ workspaces: ['two'], mirrors: [] })
    expect(cleared.bytes).toBeLessThan(bytes - 900_000)
  })

  test('a task whose work is pushed goes on from its branch, in the home that it had', async () => {
    const workspace = await prepare('one')
    await writeIn(workspace.dir, 'work.txt', 'work\n')
    await writeIn(workspace.homeDir, '.claude/projects/session.jsonl', 'session\n')
    const pushed = await push(workspace)
    expect(await room().clear()).toMatchObject({ workspaces: ['one'] })
    expect(await has('one')).toBe(false)
    await expect(stat(workspace.dir)).rejects.toThrow('ENOENT')
    const marker = await readFile(join(scene.root, 'tasks/one/asleep'), 'utf8')
    expect(pushed).toMatchObject({ kind: 'published', headSha: marker })

    const again = await prepare('one')
    expect(again.startCommit).toBe(pushed.kind === 'published' && pushed.headSha)
    expect(await readFile(join(again.dir, 'work.txt'), 'utf8')).toBe('work\n')
    expect(await readFile(join(again.homeDir, '.claude/projects/session.jsonl'), 'utf8')).toBe('session\n')
    expect(await room().clear()).toMatchObject({ workspaces: ['one'] })
  })

  test.each<readonly [string, (workspace: Workspace) => Promise<unknown>]>([
    ['a changed file', ({ dir }) => writeIn(dir, 'README.md', '# Changed\n')],
    ['a new file', ({ dir }) => writeIn(dir, 'new.txt', 'new\n')],
    ['a file of a name that git refuses', ({ dir }) => writeIn(dir, 'git~1', 'new\n')],
    [
      'a repository of its own',
      async ({ dir }) =>
        execFileSync('git', ['init', '-q', join(dir, 'nested')], { env: { PATH: testPath } }),
    ],
    [
      "a stash of the agent's git",
      ({ dir, startCommit }) => writeIn(dir, '.git/refs/stash', `${startCommit}\n`),
    ],
    [
      'a git folder that is elsewhere',
      async ({ dir, homeDir }) => {
        await rename(join(dir, '.git'), join(homeDir, 'git'))
        await writeFile(join(dir, '.git'), `gitdir: ${homeDir}/git\n`)
      },
    ],
    [
      'content of which the last commit has only a pointer',
      async ({ dir, privateGitDir: gitDir }) => {
        await writeIn(dir, 'README.md', 'The content\n')
        await gitOrThrow(testGit, { gitDir, workTree: dir, args: ['update-index', '--', 'README.md'] })
      },
    ],
    [
      'a submodule that was moved to another commit',
      async (workspace) => {
        const { dir, privateGitDir: gitDir, startCommit } = workspace
        await mkdir(join(dir, 'sub'))
        const added = ['update-index', '--add', '--cacheinfo', `160000,${startCommit},sub`]
        await gitOrThrow(testGit, { gitDir, args: added })
        expect(await push(workspace)).toMatchObject({ kind: 'published', pushed: true })
      },
    ],
    [
      'a commit that was not pushed',
      async (workspace) => {
        await writeIn(workspace.dir, 'new.txt', 'new\n')
        await commitAndPush({
          git: testGit,
          treeGit: testGit,
          workspace,
          message: 'Work',
          author: { name: 'Ada', email: 'ada@example.com' },
          secrets: [],
          url: join(scene.root, 'nowhere.git'),
        })
      },
    ],
    [
      'a change after the push',
      async (workspace) => {
        await writeIn(workspace.dir, 'new.txt', 'new\n')
        await push(workspace)
        await writeIn(workspace.dir, 'new.txt', 'newer\n')
      },
    ],
  ])('%s is work that stays, however little room there is', async (_, work) => {
    await work(await prepare('one'))
    const full: number[] = []
    const cleared = await room({ onFull: (bytes) => full.push(bytes) }).clear()
    expect(cleared).toMatchObject({ workspaces: [], mirrors: [] })
    expect(await has('one')).toBe(true)
    expect(full).toEqual([cleared.bytes])
  })

  test('of a task that was deleted everything goes, before anything else', async () => {
    await prepare('one')
    const { dir } = await prepare('two')
    await writeIn(dir, 'new.bin', Buffer.alloc(1_000_000))
    await usedAt('one', 1_000)
    const isDeleted = async (taskId: string) => taskId === 'two'
    const { bytes } = await room({ limits: { budget: 1_000_000_000, ...plenty } }).clear()
    expect(await room({ isDeleted, limits: { budget: bytes - 1, ...plenty } }).clear()).toMatchObject({
      workspaces: ['two'],
    })
    expect(await readdir(join(scene.root, 'tasks'))).toEqual(['one'])
  })

  test('what another runner has worked on since is no work, once it was unused for long enough', async () => {
    const { dir } = await prepare('one')
    await writeIn(dir, 'new.txt', 'new\n')
    const isElsewhere = async () => true
    expect(await room({ isElsewhere, idleMs: 60_000 }).clear()).toMatchObject({ workspaces: [] })
    await usedAt('one', 1_000)
    expect(await room({ isElsewhere, idleMs: 60_000 }).clear()).toMatchObject({ workspaces: ['one'] })
  })

  test('what ignore rules name is no work', async () => {
    const { dir } = await prepare('one')
    await writeIn(dir, 'build/output.bin', 'can be made again\n')
    expect(await room().clear()).toMatchObject({ workspaces: ['one'] })
  })

  test('what is in use stays, and what was used a moment ago', async () => {
    await prepare('one')
    using.add('one')
    expect(await room().clear()).toMatchObject({ workspaces: [] })
    using.clear()
    expect(await room({ idleMs: 60_000 }).clear()).toMatchObject({ workspaces: [], mirrors: [] })
    await usedAt('one', 1_000)
    await prepare('one')
    expect(await room({ idleMs: 60_000 }).clear()).toMatchObject({ workspaces: [] })
  })

  test('what comes into use while it is looked at stays', async () => {
    await prepare('one')
    const treeGitFor = () => {
      using.add('one')
      return testGit
    }
    expect(await room({ treeGitFor }).clear()).toMatchObject({ workspaces: [] })
    expect(await has('one')).toBe(true)
  })

  test('a mirror goes once no workspace stands on it, and is cloned again', async () => {
    const workspace = await prepare('one')
    await writeIn(workspace.dir, 'new.txt', 'new\n')
    expect(await room().clear()).toMatchObject({ mirrors: [] })
    expect(await mirrorsThere()).toHaveLength(1)
    await push(workspace)
    expect((await room().clear()).mirrors).toHaveLength(1)
    expect(await mirrorsThere()).toEqual([])
    expect(await readFile(join((await prepare('one')).dir, 'new.txt'), 'utf8')).toBe('new\n')
  })

  test.each([
    ['is being made on', ''],
    ['reads from besides its own', '/data/mirrors/ada/new-0123456789ab.git/objects\n'],
  ])('a mirror that a workspace %s stays', async (_why, before) => {
    const mirror = await scene.refresh()
    await writeIn(
      join(scene.root, 'tasks', 'half-made'),
      'git/objects/info/alternates',
      `${before}${mirror.objects}\n`,
    )
    using.add('half-made')
    expect(await room().clear()).toMatchObject({ workspaces: [], mirrors: [] })
    const mirrors = openMirrors({ root: scene.root, git: testGit, onFault: unexpected })
    await utimes(mirror.dir, 1_000, 1_000)
    await mirrors.refresh({ url: scene.remote, owner: 'ada', name: 'sample', id: '7', timeoutMs: 30_000 })
    await writeFile(join(scene.root, 'tasks', 'half-made', 'git/objects/info/alternates'), '')
    expect(await room({ idleMs: 60_000 }).clear()).toMatchObject({ mirrors: [] })
  })

  test('what a making or a restoring that failed left goes, and its mirror with it', async () => {
    await scene.prepare({ taskId: 'half-restored', isToBeRestored: true })
    const task = join(scene.root, 'tasks', 'half-restored')
    using.add('half-restored')
    expect(await room().clear()).toMatchObject({ workspaces: [], mirrors: [] })
    using.clear()
    const isHeld = locks.hold('half-restored', async () => {
      expect(await room().clear()).toMatchObject({ workspaces: [], mirrors: [] })
      expect(await readdir(task)).toEqual(expect.arrayContaining(['git', 'home', 'tree']))
    })
    await isHeld
    const cleared = await room().clear()
    expect(cleared).toMatchObject({ workspaces: ['half-restored'] })
    expect(cleared.mirrors).toHaveLength(1)
    expect(cleared.bytes).toBeLessThan(100_000)
    await expect(readdir(task)).rejects.toThrow('ENOENT')
    expect(await mirrorsThere()).toEqual([])
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('of one that was evicted before, only the home is kept', async () => {
      const { homeDir } = await prepare('one')
      await writeIn(homeDir, '.claude/projects/session.jsonl', 'session\n')
      expect(await room().clear()).toMatchObject({ workspaces: ['one'] })
      await scene.prepare({ taskId: 'one', workingBranch: 'flightdeck/one', isToBeRestored: true })
      expect(await room().clear()).toMatchObject({ workspaces: ['one'] })
      expect((await readdir(join(scene.root, 'tasks', 'one'))).toSorted()).toEqual(['asleep', 'home'])
      expect(await readFile(join(homeDir, '.claude/projects/session.jsonl'), 'utf8')).toBe('session\n')
      // Nothing more of it may go.
      expect(await room().clear()).toMatchObject({ workspaces: [] })
    })
  })

  test.each([
    ['a task', async () => undefined],
    [
      'a task that was evicted',
      async () => {
        await prepare('half-restored')
        expect(await room().clear()).toMatchObject({ workspaces: ['half-restored'] })
      },
    ],
  ])('what %s has of an incomplete one leaves it room for another', async (_, before) => {
    await before()
    const { dir } = await scene.prepare({ taskId: 'half-restored', isToBeRestored: true })
    await writeIn(dir, 'large.bin', Buffer.alloc(1_000_000))
    const cleaner = room({ limits: { budget: 900_000, ...plenty } })
    await locks.hold('half-restored', () => cleaner.clear())
    expect(await cleaner.make({ projectId: 'project', taskId: 'other' })).toContain('There is no room')
    expect(await cleaner.make({ projectId: 'project', taskId: 'half-restored' })).toBeUndefined()
  })

  test.each([
    ['There is no room', { budget: 900_000 }],
    ["This project's workspaces", { project: 900_000 }],
  ])('the home that an eviction kept counts for its own task as well: %s', async (refusal, least) => {
    const { homeDir } = await prepare('one')
    await writeIn(homeDir, '.cache/large.bin', Buffer.alloc(1_000_000))
    expect(await room().clear()).toMatchObject({ workspaces: ['one'] })
    const limits = { budget: Number.MAX_SAFE_INTEGER, ...plenty, ...least }
    const cleaner = room({ limits, belongingOf: async () => ({ projectId: 'project', owner: 'ada' }) })
    await cleaner.clear()
    expect(await cleaner.make({ projectId: 'project', taskId: 'one' })).toContain(refusal)
  })

  test('unpushed work of one person leaves others the room that is theirs', async () => {
    const owners = new Map([
      ['one', 'ada'],
      ['two', 'ada'],
      ['three', 'grace'],
      ['four', 'grace'],
    ])
    const { dir } = await prepare('one')
    await writeIn(dir, 'large.bin', Buffer.alloc(20_000_000))
    const belongingOf = async (taskId: string) => ({ projectId: taskId, owner: owners.get(taskId) ?? '' })
    const cleaner = room({ limits: { budget: 10_000_000, ...plenty }, belongingOf })
    await cleaner.clear()
    expect(await cleaner.make({ projectId: 'project', taskId: 'two' })).toContain('There is no room')
    expect(await cleaner.make({ projectId: 'project', taskId: 'three' })).toBeUndefined()
    cleaner.counted('three', 1_000_000)
    expect(await cleaner.make({ projectId: 'project', taskId: 'four' })).toBeUndefined()
    cleaner.counted('three', 9_000_000)
    expect(await cleaner.make({ projectId: 'project', taskId: 'four' })).toContain('There is no room')
  })

  test('owners are read only when the budget is exceeded', async () => {
    const { dir } = await prepare('one')
    await writeIn(dir, 'large.bin', Buffer.alloc(1_000_000))
    const asked: string[] = []
    const belongingOf = async (taskId: string) => {
      asked.push(taskId)
      return { projectId: 'project', owner: 'ada' }
    }
    const cleaner = room({ limits: { ...plenty, budget: 1_000_000_000, project: 900_000 }, belongingOf })
    await cleaner.clear()
    expect(await cleaner.make({ projectId: 'project', taskId: 'two' })).toContain("This project's workspaces")
    expect(asked).toEqual(['one'])
  })

  test.each([
    ['ready.json', '["two"],[]'],
    ['git/objects/info/alternates', 'EISDIR'],
  ])('a workspace whose %s cannot be read stays, and so does every mirror', async (name, outcome) => {
    await prepare('one')
    await prepare('two')
    const file = join(scene.root, 'tasks', 'one', name)
    await rm(file)
    await mkdir(file)
    await utimes(join(scene.root, 'tasks', 'one', 'ready.json'), 1_000, 1_000)
    const ended = room()
      .clear()
      .then(({ workspaces, mirrors }) => JSON.stringify([workspaces, mirrors]), String)
    expect(await ended).toContain(outcome)
    expect(await has('two')).toBe(false)
    expect(await mirrorsThere()).toHaveLength(1)
    expect(await readdir(join(scene.root, 'tasks', 'one'))).toContain('tree')
    expect(faults.splice(0)).toHaveLength(1)
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('a clean-up that was cut off is finished by the next', async () => {
      await mkdir(join(scene.root, 'ada', '.gone-sample-0123456789ab.git'), { recursive: true })
      await room({ limits: { budget: 1_000_000_000, ...plenty } }).clear()
      expect(await mirrorsThere()).toEqual([])
    })
  })

  test('that cannot be measured keeps no task waiting', async () => {
    const cleaner = room({ path: '/nonexistent' })
    await prepare('one')
    await cleaner.make({ projectId: 'project', taskId: 'new' })
    await expect.poll(() => faults.splice(0)).toEqual([expect.objectContaining({ name: 'CannotStart' })])
  })

  test('is made before a workspace is, once it is known to be short', async () => {
    const cleaner = room({ measureMs: 0 })
    await prepare('one')
    await cleaner.make({ projectId: 'project', taskId: 'new' })
    expect(await has('one')).toBe(false)
  })

  // Holds findings 1.75.
  test('security H2: what a run took is counted before the next workspace is made, also before anything else was', async () => {
    const limits = { budget: 1_000_000_000, project: 1_500_000, leastFree: 0 }
    let ran: () => void = () => undefined
    const cleaner = room({
      limits,
      belongingOf: async () => ({ projectId: 'project', owner: 'ada' }),
      runsCounted: async () => ran(),
    })
    const make = () => cleaner.make({ projectId: 'project', taskId: 'new' })
    const workspace = await prepare('one')
    await writeIn(workspace.dir, 'build/output.bin', Buffer.alloc(2_000_000))
    const full = expect.stringContaining("This project's workspaces take up more than")
    expect(await make()).toEqual(full)
    cleaner.counted('one', 0)
    expect(await make()).toBeUndefined()
    ran = () => cleaner.counted('one', 2_000_000)
    expect(await make()).toEqual(full)
  })
})
