/** When a workspace is removed after its pull request, and what is recorded before; with real git and the server's log. */
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import {
  PullRequestObserved,
  PullRequestOpened,
  PullRequestRequested,
  type TaskEvent,
} from '#domain/task/events.ts'
import { WorkspaceSnapshotTaken } from '#domain/task/snapshotEvents.ts'
import { task } from '#domain/task/task.ts'
import { sealedBlobs, type SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { taskId as taskIdOf } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { makeScene, testGit, testPath, type Scene } from '../../../tests/runner/workspaceScene.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { commitOf, gitOrThrow, gitText, type Git } from '../workspace/git/git.ts'
import { openLocks } from '../workspace/locks.ts'
import { restoreWork, saveWork } from '../workspace/saved/bundle.ts'
import { evictWorkspace, hasWorkspace, taskFolder, type Workspace } from '../workspace/workspace.ts'
import { removeOwnWorkspace, type RemovalDeps } from './removeWorkspace.ts'
import { isLongRun } from '../../../tests/longRun.ts'

const id = taskIdOf(1)
const stream = taskStream(id)
let engines: TestEngines
let scene: Scene
let workspace: Workspace
let told: string[]
let blobs: SealedBlobs
beforeEach(async () => {
  engines = await openTestEngines()
  told = []
  blobs = sealedBlobs(engines)
  scene = await makeScene({ 'README.md': '# Sample\n' })
  workspace = await scene.prepare({ taskId: id })
})
afterEach(async () => {
  await engines.close()
  await scene.remove()
})

async function happened(...events: readonly TaskEvent[]): Promise<void> {
  await engines.log.append(stream, await engines.log.headOf(stream), events, cause())
}
async function endedAs(state: 'merged' | 'closed', headCommit: string): Promise<void> {
  await happened(
    ...past.running,
    past.prepared,
    past.succeeded(1),
    PullRequestRequested.of(
      { requestId: 'request-1', draft: false, automatic: false, rewrites: false },
      { title: past.title, body: '', tree: null },
    ),
    PullRequestOpened.of({ requestId: 'request-1' }, { number: 7, url: '', headCommit }),
    PullRequestObserved.of(
      { state, draft: false, updatedAt: '2026-01-31T12:00:00Z', mergedAt: null },
      { number: 7, nodeId: 'PR_7', repositoryId: '1', headCommit, mergedBy: null },
    ),
  )
}
async function saved(): Promise<void> {
  const made = await saveWork({ git: testGit, treeGit: testGit, workspace })
  if (made.kind === 'too_large') throw new Error(made.message)
  const bundle = made.kind === 'saved' ? await blobs.put(scopeOfStream(stream), made.bundle) : undefined
  if (!bundle) throw new Error('There is work to be saved.')
  await happened(
    WorkspaceSnapshotTaken.of(
      {
        executionId: '00000000-e000-4000-8000-000000000001',
        bundle,
        session: null,
        leftOut: made.leftOut.length,
      },
      { work: made.work, leftOutPaths: [], missing: null },
    ),
  )
}
/** A commit in the workspace that was pushed to its branch. */
async function published(): Promise<string> {
  const { privateGitDir: gitDir, dir: workTree, branch } = workspace
  const at = { gitDir, workTree }
  await gitOrThrow(testGit, { ...at, args: ['add', '-A', '--', '.'] })
  const tree = await gitText(testGit, { ...at, args: ['write-tree'] })
  const identity = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Ada'],
      [`GIT_${who}_EMAIL`, 'ada@example.com'],
    ]),
  )
  const args = ['commit-tree', '-p', 'HEAD', '-m', 'Work', tree]
  const commit = await gitText(testGit, { ...at, env: identity, args })
  for (const ref of ['HEAD', `refs/remotes/origin/${branch}`])
    await gitOrThrow(testGit, { ...at, args: ['update-ref', ref, commit] })
  return commit
}
const write = (path: string) => writeFile(join(workspace.dir, path), 'new\n')

const deps = (over: Partial<RemovalDeps> = {}): RemovalDeps => ({
  root: scene.root,
  path: testPath,
  git: testGit,
  treeGitFor: () => testGit,
  locks: openLocks(),
  commands: engines.commands,
  blobs,
  reach: async () => ({ url: scene.remote, authorization: '' }),
  logger: Object.assign(Object.create(engines.logger), {
    warn: (_: unknown, message: string) => void told.push(message),
  }),
  runnerId: 'runner-1',
  refreshMirror: () => undefined,
  endSandboxes: async () => undefined,
  ...over,
})
const remove = (over?: Partial<RemovalDeps>) =>
  removeOwnWorkspace(deps(over), { taskId: id, runnerId: 'runner-1' })
const isThere = () =>
  stat(taskFolder(scene.root, id)).then(
    () => true,
    () => false,
  )
async function recordedWork() {
  const { state } = await engines.commands.load(task, stream)
  return state.kind === 'task' ? state.cleanUp.work : undefined
}

async function savedBundle() {
  const { state } = await engines.commands.load(task, stream)
  const bundle = state.kind === 'task' ? state.saved?.bundle : undefined
  const bytes = bundle && (await blobs.get(scopeOfStream(stream), bundle))
  if (!bytes) throw new Error('There is saved work.')
  return bytes
}

describe('the workspace of a task whose pull request is over', () => {
  test('goes, with all its work merged', async () => {
    await write('a.txt')
    await endedAs('merged', await published())
    expect(await remove()).toEqual({ outcome: 'removed' })
    expect(await isThere()).toBe(false)
    expect(await recordedWork()).toBe('merged')
    expect(await remove()).toEqual({ outcome: 'none' })
    expect(await recordedWork()).toBe('merged')
  })

  test('that is killed half-way has told where the work is, and leaves nothing that counts as a workspace', async () => {
    await endedAs('merged', (await commitOf(testGit, workspace.privateGitDir, 'HEAD')) ?? '')
    await expect(remove({ path: '/nonexistent' })).rejects.toMatchObject({ name: 'CannotStart' })
    expect(await recordedWork()).toBe('merged')
    expect(await isThere()).toBe(true)
    expect(await hasWorkspace(scene.root, id)).toBe(false)
    // The next try finds only what is left, and knows no better.
    expect(await remove()).toEqual({ outcome: 'removed' })
    expect(await recordedWork()).toBe('merged')
  })

  test('stays with work that is nowhere else, and goes once that is saved', async () => {
    await endedAs('merged', (await commitOf(testGit, workspace.privateGitDir, 'HEAD')) ?? '')
    await write('later.txt')
    expect(await remove()).toEqual({ outcome: 'not_saved' })
    expect(await hasWorkspace(scene.root, id)).toBe(true)
    expect(await recordedWork()).toBeNull()
    await saved()
    expect(await remove()).toEqual({ outcome: 'removed' })
    expect(await recordedWork()).toBe('saved')
  })

  test('stays with what a snapshot leaves out', async () => {
    await endedAs('closed', 'e'.repeat(40))
    await mkdir(join(workspace.dir, 'vendor'))
    await gitOrThrow(testGit, { args: ['init', '--quiet', '--', join(workspace.dir, 'vendor')] })
    const from = ['remote', 'add', 'origin', 'https://x.example/a']
    await gitOrThrow(testGit, { gitDir: join(workspace.dir, 'vendor/.git'), args: from })
    await writeFile(join(workspace.dir, 'vendor', 'a.txt'), 'only here\n')
    await saved()
    expect(await remove()).toEqual({ outcome: 'not_saved' })
    expect(await isThere()).toBe(true)
  })

  test.each(['ready.json', 'git/objects/info/alternates', 'git/HEAD'])(
    'stays where its %s cannot be read',
    async (name) => {
      await write('later.txt')
      await endedAs('merged', (await commitOf(testGit, workspace.privateGitDir, 'HEAD')) ?? '')
      const file = join(taskFolder(scene.root, id), name)
      await rm(file)
      await mkdir(file)
      expect(await remove()).toEqual({ outcome: 'not_saved' })
      expect(await readFile(join(workspace.dir, 'later.txt'), 'utf8')).toBe('new\n')
      expect(told).toEqual(['failed to look at the work of a workspace that is to go'])
    },
  )

  test('is not merged where work was pushed on top of the merged head', async () => {
    await write('a.txt')
    const head = await published()
    await write('b.txt')
    await published()
    await endedAs('merged', head)
    expect(await remove()).toEqual({ outcome: 'not_saved' })
    await saved()
    expect(await remove()).toEqual({ outcome: 'removed' })
    expect(await recordedWork()).toBe('saved')
  })

  test('is merged where others pushed on top of it before the merge', async () => {
    await write('a.txt')
    await published()
    const { privateGitDir: gitDir, branch } = workspace
    await gitOrThrow(testGit, { gitDir, args: ['push', '-q', scene.remote, `HEAD:refs/heads/${branch}`] })
    await endedAs('merged', await scene.commit({ 'theirs.txt': 'theirs\n' }, branch))
    expect(await remove()).toEqual({ outcome: 'removed' })
    expect(await recordedWork()).toBe('merged')
  })

  test('is not merged into a head that nobody can show, or that is not on top of it', async () => {
    await write('a.txt')
    await published()
    await endedAs('merged', 'e'.repeat(40))
    expect(await remove()).toEqual({ outcome: 'not_saved' })
    await endedAs('merged', await scene.commit({ 'theirs.txt': 'theirs\n' }, 'elsewhere'))
    expect(await remove()).toEqual({ outcome: 'not_saved' })
    await saved()
    expect(await remove()).toEqual({ outcome: 'removed' })
    expect(await recordedWork()).toBe('saved')
  })

  test('stays where git fails to say whether it was merged', async () => {
    const head = await published()
    await endedAs('merged', head)
    const git: Git = async (call) => {
      const finished = await testGit(call)
      const isAbout = call.args.at(-1)?.startsWith(head)
      return isAbout ? { ...finished, endedBy: 'time_limit', code: null } : finished
    }
    expect(await remove({ git: Object.assign(git, { as: testGit.as }) })).toEqual({ outcome: 'not_saved' })
    expect(await hasWorkspace(scene.root, id)).toBe(true)
  })

  test('is not saved without the bundle, or where the base that it needs is gone', async () => {
    await write('a.txt')
    await endedAs('closed', 'e'.repeat(40))
    await saved()
    const isGone = { blobs: { get: async () => undefined } }
    expect(await remove(isGone)).toEqual({ outcome: 'not_saved' })
    expect(await remove({ reach: async () => undefined })).toEqual({ outcome: 'not_saved' })
    const base = (...args: readonly string[]) =>
      gitOrThrow(testGit, { gitDir: scene.remote, args: ['branch', '--move', '--', ...args] })
    await base('main', 'other')
    expect(await remove()).toEqual({ outcome: 'not_saved' })
    expect(await hasWorkspace(scene.root, id)).toBe(true)
    await base('other', 'main')
    expect(await remove()).toEqual({ outcome: 'removed' })
  })

  /** Another history of the base at the code host, as after a push by force. */
  async function rewriteBase(): Promise<string> {
    const at = { gitDir: scene.remote }
    const old = await gitText(testGit, { ...at, args: ['rev-parse', 'main'] })
    await gitOrThrow(testGit, { ...at, args: ['update-ref', '-d', 'refs/heads/main'] })
    await scene.commit({ 'README.md': '# Other\n' })
    return old
  }

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('is not saved where its base no longer leads to what the saved work began with', async () => {
      await write('a.txt')
      await endedAs('closed', 'e'.repeat(40))
      await saved()
      const old = await rewriteBase()
      expect(await remove()).toEqual({ outcome: 'not_saved' })
      // Still not where the runner, for now, has the commit.
      await scene.refresh()
      expect(await remove()).toEqual({ outcome: 'not_saved' })
      expect(await hasWorkspace(scene.root, id)).toBe(true)
      await gitOrThrow(testGit, { gitDir: scene.remote, args: ['update-ref', 'refs/heads/main', old] })
      await scene.commit({ 'theirs.txt': 'theirs\n' })
      expect(await remove()).toEqual({ outcome: 'removed' })
      expect(await recordedWork()).toBe('saved')
      const bundle = await savedBundle()
      await rm(join(scene.root, 'ada'), { recursive: true })
      const other = await scene.prepare({ taskId: 'on-another-runner' })
      const restored = restoreWork({
        git: testGit,
        path: testPath,
        workspace: other,
        bundle,
      })
      expect(await restored).toMatchObject({ kind: 'restored' })
    })
  })

  /** A host that is too slow for this command; a fetch has begun a pack by then. */
  const slow = (command: 'ls-remote' | 'fetch') => {
    const git: Git = async (call) => {
      if (call.args[0] !== command) return testGit(call)
      const packs = join(workspace.privateGitDir, 'objects/pack')
      await mkdir(packs, { recursive: true })
      if (command === 'fetch') await writeFile(join(packs, 'tmp_pack_1'), 'half')
      const none = Buffer.alloc(0)
      return { code: null, signal: 'SIGKILL', endedBy: 'time_limit', stdout: none, stderr: none }
    }
    return { git: Object.assign(git, { as: testGit.as }) }
  }

  test('fetches nothing that the runner has, and says where the host is too slow', async () => {
    await write('a.txt')
    await endedAs('closed', 'e'.repeat(40))
    await saved()
    await scene.commit({ 'theirs.txt': 'theirs\n' })
    expect(await remove(slow('ls-remote'))).toEqual({ outcome: 'unreachable' })
    let refreshing: Promise<unknown> = Promise.resolve()
    const refreshMirror = () => void (refreshing = scene.refresh())
    expect(await remove({ ...slow('fetch'), refreshMirror })).toEqual({ outcome: 'unreachable' })
    expect(await readdir(join(workspace.privateGitDir, 'objects/pack'))).not.toContain('tmp_pack_1')
    expect(await hasWorkspace(scene.root, id)).toBe(true)
    // What took too long goes on, so that the next attempt succeeds.
    await refreshing
    expect(await remove(slow('fetch'))).toEqual({ outcome: 'removed' })
    expect(await recordedWork()).toBe('saved')
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('says so, too, where the head that was merged cannot be fetched in time', async () => {
      await write('a.txt')
      await published()
      await endedAs('merged', await scene.commit({ 'theirs.txt': 'theirs\n' }, 'elsewhere'))
      expect(await remove(slow('fetch'))).toEqual({ outcome: 'unreachable' })
      expect(await hasWorkspace(scene.root, id)).toBe(true)
    })
  })

  test.each([
    ['merged', published],
    ['closed', saved],
  ] as const)(
    'is not called unsaved where the code host is away or its access fails: %s',
    async (state, keep) => {
      await write('a.txt')
      await endedAs(state, 'e'.repeat(40))
      await keep()
      const nowhere = { url: join(scene.root, 'nowhere.git'), authorization: '' }
      expect(await remove({ reach: async () => nowhere })).toEqual({ outcome: 'unreachable' })
      const refused = { reach: () => Promise.reject(new Fault('github_not_connected')) }
      expect(await remove(refused)).toEqual({ outcome: 'unreachable' })
      expect(await hasWorkspace(scene.root, id)).toBe(true)
    },
  )

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('stays where the host has no such head as was merged', async () => {
      await write('a.txt')
      await published()
      await endedAs('merged', 'e'.repeat(40))
      expect(await remove()).toEqual({ outcome: 'not_saved' })
    })
  })

  test.each(['git', 'mirror'])(
    'is not saved in a large repository, of which a new clone has only the end: by its %s',
    async (which) => {
      await write('a.txt')
      await endedAs('closed', 'e'.repeat(40))
      await saved()
      const { privateGitDir, mirrorDir, startCommit } = workspace
      const shallow = join(which === 'git' ? privateGitDir : mirrorDir, 'shallow')
      await writeFile(shallow, `${startCommit}\n`)
      expect(await remove()).toEqual({ outcome: 'not_saved' })
      expect(told).toEqual([])
      await rm(shallow)
      expect(await remove()).toEqual({ outcome: 'removed' })
    },
  )

  /** By the agent's own git, in the tree. */
  async function agents(...args: readonly string[]): Promise<string> {
    const author = { NAME: 'claude', EMAIL: 'claude@example.com' }
    const env = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) =>
        Object.entries(author).map(([what, value]) => [`GIT_${who}_${what}`, value]),
      ),
    )
    return gitText(testGit, {
      gitDir: join(workspace.dir, '.git'),
      workTree: workspace.dir,
      env: { ...env, GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects },
      args,
    })
  }
  const agentCommit = () => agents('commit-tree', '-p', 'HEAD', '-m', 'Aside', 'HEAD^{tree}')
  const outside = () => writeFile(join(workspace.dir, '..', 'outside'), `${'a'.repeat(40)}\n`)

  test.each<readonly [string, () => Promise<unknown>]>([
    ['a stash', async () => agents('update-ref', 'refs/stash', await agentCommit())],
    ['a branch', async () => agents('update-ref', 'refs/heads/wip/one', await agentCommit())],
    [
      'a packed branch',
      async () => {
        await agents('update-ref', 'refs/heads/wip', await agentCommit())
        await agents('pack-refs', '--all')
      },
    ],
    [
      'a branch that it left',
      async () => {
        await agents('update-ref', 'HEAD', await agentCommit())
        await agents('symbolic-ref', 'HEAD', 'refs/heads/main')
      },
    ],
    [
      'something else than git writes',
      async () => {
        await outside()
        await symlink('../../../../outside', join(workspace.dir, '.git/refs/heads/linked'))
      },
    ],
  ])("stays while the agent's git has %s that nobody else has", async (_what, make) => {
    await endedAs('merged', (await commitOf(testGit, workspace.privateGitDir, 'HEAD')) ?? '')
    await make()
    expect(await remove()).toEqual({ outcome: 'not_saved' })
    expect(await hasWorkspace(scene.root, id)).toBe(true)
  })

  test("goes with the agent's own commits, whose files are what was merged, and branches of the base", async () => {
    await agents('update-ref', 'HEAD', await agentCommit())
    await agents('update-ref', 'refs/heads/other', 'main')
    await endedAs('merged', (await commitOf(testGit, workspace.privateGitDir, 'HEAD')) ?? '')
    expect(await remove()).toEqual({ outcome: 'removed' })
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('is as merged after an eviction as before it', async () => {
      await write('a.txt')
      await endedAs('merged', await published())
      await evictWorkspace(scene.root, id, testPath)
      expect(await remove()).toEqual({ outcome: 'removed' })
      expect(await recordedWork()).toBe('merged')
    })

    test('that was closed and is not there to be looked at says nothing of its work', async () => {
      await write('a.txt')
      await endedAs('closed', await published())
      await evictWorkspace(scene.root, id, testPath)
      expect(await remove()).toEqual({ outcome: 'removed' })
      expect(await recordedWork()).toBe('unknown')
    })
  })

  test('stays when the task goes on between the look and the removal', async () => {
    await endedAs('merged', (await commitOf(testGit, workspace.privateGitDir, 'HEAD')) ?? '')
    const endSandboxes = () => happened(past.waits(2), past.requested(2))
    expect(await remove({ endSandboxes })).toEqual({ outcome: 'in_use' })
    expect(await hasWorkspace(scene.root, id)).toBe(true)
  })
})
