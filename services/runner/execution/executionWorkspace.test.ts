/** What an interrupted run leaves to the next one while its workspace is being made; with real git and the server's log. */
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import { projectStream, scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { TaskCleanedUp, TaskCleanUpBegun } from '#domain/task/codeHost/cleanUpEvents.ts'
import {
  PullRequestObserved,
  PullRequestOpened,
  PullRequestRequested,
  type TaskEvent,
} from '#domain/task/events.ts'
import { TaskCreatedFromTurn, TurnsUndone, WorkspaceSnapshotTaken } from '#domain/task/snapshotEvents.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { logger, type Logger } from '#platform/log.ts'
import type { HostRepository } from '#platform/ports/codeHost.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { sealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { executionId, taskId, userId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { makeScene, testGit, testPath, unexpected, writeIn } from '../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../tests/runner/workspaceScene.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { projectOf } from '../../../tests/server/pullRequestScene.ts'
import type { EarlySandbox } from '../prewarm/earlySandbox.ts'
import { redactionOf } from '../redaction/redaction.ts'
import { gitOrThrow, type Git } from '../workspace/git/git.ts'
import { openMirrors, type RefreshRequest, type RefreshResult } from '../workspace/git/mirror.ts'
import { packFolders } from '../workspace/saved/archive.ts'
import { commitAndPush } from '../workspace/publish/publish.ts'
import { saveWork } from '../workspace/saved/bundle.ts'
import {
  evictWorkspace,
  hasWorkspace,
  removeWorkspace,
  taskFolder,
  type Workspace,
} from '../workspace/workspace.ts'
import { isLongRun } from '../../../tests/longRun.ts'
import { openWorkspaces } from '../workspace/workspaces.ts'
import { stopping, type Stopping } from './control.ts'
import { executionWorkspace } from './executionWorkspace.ts'
import { openSnapshots } from './recording/snapshots.ts'
import type { PreparingDeps } from './prepareWorkspace.ts'

const id = taskId(1)
const stream = taskStream(id)
const scope = scopeOfStream(stream)
let engines: TestEngines
let scene: Scene
beforeEach(async () => {
  engines = await openTestEngines()
  scene = await makeScene({ 'README.md': '# Sample\n' })
  await projectOf(engines)
})
afterEach(async () => {
  await engines.close()
  await scene.remove()
})

/** Where a run ends as if its process were killed there. */
type Cut = 'the session' | 'the completion' | 'the record of what was restored' | 'the report' | 'the turn'

async function happened(...events: readonly TaskEvent[]): Promise<void> {
  await engines.log.append(stream, await engines.log.headOf(stream), events, cause())
}

/** Work of a turn, as it is saved; the workspace is gone. */
async function saved() {
  const blobs = sealedBlobs(engines)
  const workspace = await scene.prepare({ taskId: id })
  await writeIn(workspace.dir, 'work.txt', 'work\n')
  await writeIn(workspace.homeDir, '.claude/projects/one/session.jsonl', 'session\n')
  const made = await saveWork({ git: testGit, treeGit: testGit, workspace })
  if (made.kind !== 'saved') throw new Error(`it was not saved: ${made.kind}`)
  const { archive } = await packFolders(workspace.homeDir, ['.claude/projects'])
  await removeWorkspace(scene.root, id, testPath)
  return {
    work: made.work,
    bundle: await blobs.put(scope, made.bundle),
    session: { agent: 'claude', blob: await blobs.put(scope, archive) } as const,
  }
}

/** Each ends with a message that runs. */
const histories = {
  async merged() {
    await workedAndSaved()
    await happened(
      PullRequestRequested.of(
        { requestId: 'request-1', draft: false, automatic: false, rewrites: false },
        { title: past.title, body: '', tree: null },
      ),
      PullRequestOpened.of({ requestId: 'request-1' }, { number: 7, url: '', headCommit: 'c'.repeat(40) }),
      PullRequestObserved.of(
        { state: 'merged', draft: false, updatedAt: '2026-01-31T12:00:00Z', mergedAt: null },
        { number: 7, nodeId: 'PR_7', repositoryId: '7', headCommit: 'c'.repeat(40), mergedBy: null },
      ),
      TaskCleanUpBegun.of({ work: 'merged' }),
      TaskCleanedUp.of({ requestId: 'c', branch: 'deleted', workspace: 'removed', startsAnew: true }),
      past.waits(2),
      past.requested(2),
      past.started(2),
    )
  },
  async lost() {
    await workedAndSaved()
    await happened(past.waits(2), past.requested(2), past.started(2))
  },
  async undone() {
    await workedAndSaved()
    const [undoId, undone] = [executionId(3), executionId(2)]
    await happened(past.waits(2), past.requested(2), past.started(2), past.succeeded(2))
    await happened(
      TurnsUndone.of({ undoId, executionId: undone, undone: [undone], redone: [] }),
      past.waits(4),
      past.requested(4),
      past.started(4),
    )
  },
  async forked() {
    const { work, bundle, session } = await saved()
    await happened(
      past.created,
      TaskCreatedFromTurn.of(
        {
          taskId: taskId(2),
          executionId: executionId(9),
          bundle,
          session: { ...session, sessionId: 'session-9' },
        },
        { title: past.title, work, transcript: '' },
      ),
      past.waits(2),
      past.requested(2),
      past.started(2),
    )
  },
}
async function workedAndSaved(): Promise<void> {
  const { work, bundle, session } = await saved()
  await happened(
    ...past.running,
    past.prepared,
    past.agentStarted(1),
    WorkspaceSnapshotTaken.of(
      { executionId: executionId(1), bundle, session, leftOut: 0 },
      { work, leftOutPaths: [], missing: null },
    ),
    past.succeeded(1),
  )
}

const repository: HostRepository = {
  id: '7',
  owner: 'ada',
  name: 'engine',
  fullName: 'ada/engine',
  description: null,
  isPrivate: true,
  htmlUrl: '',
  defaultBranch: 'main',
  language: null,
  createdAt: null,
  isArchived: false,
  mayPush: true,
}
const mirrorsOf = ({ root }: Scene) =>
  openMirrors({ root: join(root, 'mirrors'), git: testGit, onFault: unexpected })
const cutOff = (): never => {
  throw new Error('cut off')
}

const away: RefreshResult = { kind: 'unreachable', message: 'It is away.' }

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The runner makes the workspace of the message that runs, as the log is now, until it is cut off. */
async function run(
  cut?: Cut,
  {
    git = testGit,
    // A process that is killed removes nothing.
    path = cut ? '/nonexistent' : testPath,
    make = async () => undefined,
    printed = [],
    refreshed = async () => undefined,
    early,
    refusal,
    areFilesGone = false,
    warm,
    stop = stopping(),
    logger = engines.logger,
    endSandboxes = async () => undefined,
  }: Partial<Pick<PreparingDeps, 'git'> & PreparingDeps['eviction']> & {
    /** Ends before the mirror is brought up to date. */
    readonly refreshed?: () => Promise<unknown>
    readonly path?: string
    /** What the run prints is added. */
    readonly printed?: string[]
    readonly early?: EarlySandbox
    /** What a refresh of the mirror ends with, in place of a mirror. */
    readonly refusal?: RefreshResult
    readonly areFilesGone?: boolean
    /** Where an agent waits. */
    readonly warm?: Workspace
    readonly stop?: Stopping
    readonly logger?: Logger
    readonly endSandboxes?: () => Promise<void>
  } = {},
) {
  const { state } = await engines.commands.load(decider, stream)
  const document = await engines.documents.now(tasksView, stream, id)
  if (state.kind !== 'task' || !document) throw new Error('there is no task')
  const { root } = scene
  const blobs = sealedBlobs(engines)
  const get: Documents['get'] = (view, of) => engines.documents.now(view, projectStream(of), of)
  const mirrors = mirrorsOf(scene)
  const execute: Commands['execute'] = async (...asked) => {
    const done = await engines.commands.execute(...asked)
    return cut === 'the record of what was restored' ? cutOff() : done
  }
  const cutBlobs = {
    ...blobs,
    async get(of: string, ref: BlobRef) {
      if (ref.hash === state.saved?.session?.blob.hash) {
        if (cut === 'the session') cutOff()
        // Where the mark is to be written.
        if (cut === 'the completion') await mkdir(join(taskFolder(root, id), 'ready.half'))
      }
      return areFilesGone ? undefined : blobs.get(of, ref)
    },
  }
  const treeGitFor = () => git
  const deps = {
    git,
    mirrors: {
      ...mirrors,
      async refresh(request: RefreshRequest): Promise<RefreshResult> {
        await refreshed()
        return refusal ?? mirrors.refresh(request)
      },
    },
    workspaces: openWorkspaces({
      root,
      path,
      git,
      checkCheckout: async () => undefined,
      ownerOf: async () => undefined,
      logger: engines.logger,
    }),
    scratch: { make: cutOff },
    eviction: { make },
    commitSigner: undefined,
    noreplyDomain: 'users.noreply.localhost',
    logger,
    documents: { get },
    accessControl: { check: async () => undefined },
    access: { tokenOf: async () => 'own' },
    installations: {
      tokenFor: async () => ({ kind: 'none', why: 'no_key', installation: undefined }) as const,
    },
    codeHost: {
      gitAccess: async () => ({ url: scene.remote, authorization: '' }),
      repository: async () => repository,
      repositoryById: async () => ({ repository, etag: null }),
      takesOnlySigned: async () => false,
      throwIfRateLimited: () => undefined,
      recordGitRateLimit: cutOff,
    },
    commands: { ...engines.commands, execute },
    snapshots: openSnapshots({ blobs: cutBlobs, git, treeGitFor, path, logger: engines.logger }),
    redaction: () => redactionOf([], { run: cutOff, close: async () => undefined }),
    prewarm: {
      agents: { workspaceOf: () => warm },
      adopt: async () => undefined,
    },
    endSandboxes,
  }
  const report = async (...events: readonly TaskEvent[]) => {
    const isLast = events.some(({ type }) => type === 'WorkspacePrepared')
    if (isLast && cut === 'the report') cutOff()
    await happened(...events)
    if (isLast && cut === 'the turn') cutOff()
  }
  const found = await executionWorkspace(deps, {
    task: state,
    document,
    user: { id: userId(1), fullName: 'Ada', githubUsername: 'ada', githubId: null, email: null },
    fence: { executionId: executionId(2), attempt: 1 },
    kind: 'turn',
    early,
    session: null,
    terminal: {
      append: async ({ content }) => void printed.push(content?.text ?? ''),
      tell: () => undefined,
      head: () => null,
    },
    reporter: { report, delivered: async () => undefined, end: async () => undefined },
    stop,
  })
  if (found.kind === 'ready') await found.recorded
  return found
}

const cuts = ['the session', 'the completion', 'the report', 'the turn'] as const
/** Where a fork is cut off, the others are as well, so `npm test` tries these only at the ends. */
const tried = isLongRun ? cuts : (['the session', 'the turn'] as const)
const all = [
  ...tried.map((cut) => ['merged', cut, ['README.md']] as const),
  ...tried.map((cut) => ['lost', cut, ['README.md', 'work.txt']] as const),
  ...[...cuts, 'the record of what was restored' as const].map(
    (cut) => ['forked', cut, ['README.md', 'work.txt']] as const,
  ),
]

describe('a run that is cut off', () => {
  test.each(all)('of a task that was %s, at %s, leaves the next %j', async (history, cut, files) => {
    await histories[history]()
    await expect(run(cut)).rejects.toThrow(cut === 'the completion' ? 'EISDIR' : 'cut off')
    const ready = await run()
    if (ready.kind === 'failed') throw new Error(ready.reason)
    const { dir, homeDir } = ready.workspace
    expect((await readdir(dir)).filter((name) => name !== '.git').toSorted()).toEqual(files)
    expect(await readdir(join(homeDir, '.claude/projects/one'))).toEqual(['session.jsonl'])
    expect(await hasWorkspace(scene.root, id)).toBe(true)
    const { state } = await engines.commands.load(decider, stream)
    expect(state).toMatchObject({ workspace: 'ready', pendingRestore: null, cleanUp: { work: null } })
  })
})

/** A git whose imports of bundles end with these words. */
const ending = (stderr: string) => {
  const git: Git = async (call) => {
    const finished = await testGit(call)
    return call.args[1] === 'unbundle' ? { ...finished, code: 128, stderr: Buffer.from(stderr) } : finished
  }
  return Object.assign(git, { as: testGit.as })
}
const noSpace = 'fatal: cannot write: No space left on device\n'

test.each([
  ['after one that was saved', [], 'as of the last turn.'],
  [
    'after one that was not saved',
    [past.succeeded(2), past.waits(3), past.requested(3), past.started(3)],
    'as of an earlier turn.',
  ],
])('a turn %s says what its workspace was recreated with', async (_, more, expected) => {
  await histories.lost()
  await happened(...more)
  const printed: string[] = []
  expect(await run(undefined, { printed })).toMatchObject({ kind: 'ready', isNew: true })
  expect(printed.join('')).toContain(expected)
})

describe('what a restore that failed leaves', () => {
  const git = ending(noSpace)

  test('is nothing', async () => {
    await histories.lost()
    await expect(run(undefined, { git })).rejects.toThrow('No space left on device')
    expect(await exists(taskFolder(scene.root, id))).toBe(false)
    expect(await run()).toMatchObject({ kind: 'ready', isNew: true })
  })

  test('does not take the room for the next try', async () => {
    await histories.lost()
    await expect(run('the session')).rejects.toThrow('cut off')
    const tree = join(taskFolder(scene.root, id), 'tree')
    expect(await exists(tree)).toBe(true)
    const make = async () => ((await exists(tree)) ? 'There is no room.' : undefined)
    expect(await run(undefined, { make })).toMatchObject({ kind: 'ready', isNew: true })
  })
})

test('a sandbox that was opened early has ended before what it ran in is removed', async () => {
  await histories.lost()
  await mirrorsOf(scene).refresh({ ...repository, url: scene.remote, timeoutMs: 30_000 })
  const seen: string[] = []
  const early: EarlySandbox = {
    open: () => void seen.push('opened'),
    take: async () => undefined,
    async close() {
      seen.push((await exists(join(taskFolder(scene.root, id), 'tree'))) ? 'closed' : 'closed too late')
    },
  }
  let failures = 1
  const failing: Git = (call) => (call.args[0] === 'read-tree' && failures-- > 0 ? cutOff() : testGit(call))
  const git = Object.assign(failing, { as: () => failing })
  expect(await run(undefined, { git, early })).toMatchObject({ kind: 'ready', isNew: true })
  expect(seen).toEqual(['opened', 'closed', 'opened'])
})

// Attacks shell: a program of a shell runs on while git of this machine writes into its tree.
test('the shell and the agent of a task end before an undo writes its files', async () => {
  await histories.undone()
  const { dir } = await scene.prepare({ taskId: id })
  await writeIn(dir, 'work.txt', 'later\n')
  const work = () => readFile(join(dir, 'work.txt'), 'utf8')
  const seen: string[] = []
  await run(undefined, { endSandboxes: async () => void seen.push(await work()) })
  expect([...seen, await work()]).toEqual(['later\n', 'work\n'])
})

describe('while a warm agent works, the mirror is refreshed, and', () => {
  const refreshWith = async (refusal: RefreshResult) => {
    const warm = await scene.prepare({ taskId: id })
    await happened(...past.running, past.prepared, past.agentStarted(1), past.succeeded(1))
    await happened(past.waits(2), past.requested(2), past.started(2))
    const [stop, lines] = [stopping(), new PassThrough()]
    const ended = Promise.race([once(lines, 'data'), once(stop.signal, 'abort')])
    const ready = await run(undefined, { warm, refusal, stop, logger: logger('warn', {}, lines) })
    if (ready.kind === 'failed') throw new Error(ready.reason)
    await ended
    await ready.settle?.()
    return stop
  }

  test.each([away, { kind: 'timed_out', message: 'It took too long.' }] as const)(
    'a host that does not answer does not end the turn: $kind',
    async (refusal) => {
      expect((await refreshWith(refusal)).reason()).toBeUndefined()
    },
  )

  test.each(['refused', 'unauthorized'] as const)('a host that refuses ends it: %s', async (kind) => {
    const stop = await refreshWith({ kind, message: 'It refuses.' })
    expect(stop.reason()).toBe('no_access')
    expect(stop.sentence()).toBe('It refuses.')
  })
})

describe('the home that an eviction kept', () => {
  const file = () => join(taskFolder(scene.root, id), 'home/.claude/kept.json')
  const evicted = async (history: keyof typeof histories) => {
    await histories[history]()
    const { homeDir } = await scene.prepare({ taskId: id })
    await writeIn(homeDir, '.claude/kept.json', '{}')
    await evictWorkspace(scene.root, id, testPath)
    // There is one from before, as there is where another task uses the repository.
    await mirrorsOf(scene).refresh({ ...repository, url: scene.remote, timeoutMs: 30_000 })
  }
  const isMade = () =>
    vi.waitFor(async () => expect(await exists(join(taskFolder(scene.root, id), 'git'))).toBe(true))
  const isAllThatIsLeft = async () => {
    expect((await readdir(taskFolder(scene.root, id))).toSorted()).toEqual(['asleep', 'home'])
    expect(await exists(file())).toBe(true)
  }

  test('stays where the restore of a moment fails', async () => {
    await evicted('lost')
    await expect(run(undefined, { git: ending(noSpace) })).rejects.toThrow('No space left on device')
    await isAllThatIsLeft()
  })

  test('stays where the base branch moves while the workspace is made', async () => {
    await evicted('lost')
    const refreshed = async () => {
      await isMade()
      await scene.commit({ 'later.txt': 'later\n' })
    }
    const ready = await run(undefined, { refreshed })
    expect(ready).toMatchObject({ kind: 'ready', isNew: true })
    expect(await exists(file())).toBe(true)
  })

  test('stays where the code host goes away while the workspace is made', async () => {
    await evicted('lost')
    expect(await run(undefined, { refreshed: isMade, refusal: away })).toMatchObject({ kind: 'failed' })
    await isAllThatIsLeft()
  })

  test('stays where what was saved cannot be read, and the task begins without it', async () => {
    await evicted('lost')
    const ready = await run(undefined, { git: ending('fatal: early EOF\n') })
    expect(ready).toMatchObject({ kind: 'ready', isNew: true, session: null })
    expect(await exists(file())).toBe(true)
  })

  test.each([
    ['are gone', { areFilesGone: true }],
    ['cannot be read', { git: ending('fatal: early EOF\n') }],
  ])('stays where the files that an undo wants %s', async (_, options) => {
    await evicted('undone')
    expect(await run(undefined, options)).toMatchObject({ kind: 'failed', code: 'restore_failed' })
    await isAllThatIsLeft()
  })
})

describe('a task that was evicted once all of its work was pushed', () => {
  const branch = 'flightdeck/add-a-greeting-1'
  const author = { name: 'Ada', email: 'ada@example.com' }
  /** What was saved last is older, as where the latest was too large. */
  const evicted = async (history: keyof typeof histories) => {
    await histories[history]()
    const workspace = await scene.prepare({ taskId: id, workingBranch: branch })
    await writeIn(workspace.dir, 'work.txt', 'newer\n')
    await writeIn(workspace.homeDir, '.claude/projects/one/later.jsonl', 'later\n')
    const [git, treeGit, url] = [testGit, testGit, scene.remote]
    const asked = { git, treeGit, workspace, message: 'Work', author, secrets: [], url }
    const pushed = await commitAndPush(asked)
    if (pushed.kind !== 'published') throw new Error(pushed.kind)
    await evictWorkspace(scene.root, id, testPath, pushed.headSha)
  }
  const files = async (ready: Awaited<ReturnType<typeof run>>) => {
    if (ready.kind === 'failed') throw new Error(ready.reason)
    const { dir, homeDir } = ready.workspace
    return {
      work: await readFile(join(dir, 'work.txt'), 'utf8'),
      isTheirsThere: await exists(join(dir, 'theirs.txt')),
      sessions: (await readdir(join(homeDir, '.claude/projects/one'))).toSorted(),
    }
  }
  const asSaved = { work: 'work\n', isTheirsThere: false, sessions: ['session.jsonl'] }

  test('goes on from its branch with what others added to it, in the session that it had', async () => {
    await evicted('lost')
    await scene.commit({ 'theirs.txt': 'theirs\n' }, branch)
    const failing: Git = (call) => (call.args[0] === 'read-tree' ? cutOff() : testGit(call))
    const git = Object.assign(failing, { as: () => failing })
    await expect(run(undefined, { git })).rejects.toThrow('cut off')
    const asPushed = { work: 'newer\n', isTheirsThere: true, sessions: ['later.jsonl'] }
    expect(await files(await run())).toEqual(asPushed)
  })

  test('goes on from what was saved where its branch was reset', async () => {
    await evicted('lost')
    const args = ['update-ref', `refs/heads/${branch}`, 'refs/heads/main']
    await gitOrThrow(testGit, { gitDir: scene.remote, args })
    expect(await files(await run())).toEqual(asSaved)
  })

  test.each(['the session', 'the completion', 'the record of what was restored'] as const)(
    'has the files that an undo wants, also where that is cut off at %s',
    async (cut) => {
      await evicted('undone')
      await expect(run(cut, { path: testPath })).rejects.toThrow(/EISDIR|cut off/)
      expect(await files(await run())).toEqual(asSaved)
    },
  )
})
