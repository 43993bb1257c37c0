/** A branch is deleted only when the work on it was merged, or a runner found it saved. */
import { describe, expect, test, beforeEach } from 'vitest'
import type { BranchOutcome, WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import { TaskCleanedUp, TaskCleanUpBegun, TaskCleanUpRequested } from '#domain/task/codeHost/cleanUpEvents.ts'
import {
  PullRequestObserved,
  PullRequestOpened,
  PullRequestRequested,
  TaskCreated,
  WorkspacePrepared,
  type TaskEvent,
} from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { stateAfter } from '../../../tests/domain/given.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cleanUp, cleanUpBranch, type TaskCleanUpServices, type BranchCleanUp } from './cleanUp.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { AnyEvent } from '#domain/kernel/event.ts'
import { ProjectCreated } from '#domain/project/events.ts'
import { projectsView } from '#domain/views/projects.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import type { Find } from '#platform/ports/readStore.ts'
import { CodeHostFault, type HostRepository } from '#platform/ports/codeHost.ts'
import { executionId, projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'

const headCommit = 'c'.repeat(40)
const over = (state: 'merged' | 'closed'): readonly TaskEvent[] => [
  ...past.running,
  past.prepared,
  past.succeeded(1),
  PullRequestOpened.of({ requestId: 'r' }, { number: 7, url: '', headCommit }),
  PullRequestObserved.of(
    { state, draft: false, updatedAt: '2026-01-31T12:00:00Z', mergedAt: null },
    { number: 7, nodeId: 'PR_7', repositoryId: '1', headCommit, mergedBy: null },
  ),
]
const begun = (work: 'saved' | 'unknown') => TaskCleanUpBegun.of({ work })

/** `found`: what is recorded until the runner has answered. `atHost`: where the branch stands, if it is there. */
async function branchAfter(
  before: readonly TaskEvent[],
  outcome: Exclude<WorkspaceOutcome, 'unreachable'> | undefined,
  found: readonly TaskEvent[] = [],
  atHost: string | null = headCommit,
): Promise<BranchOutcome> {
  const state = stateAfter(task, before)
  if (state.kind !== 'task') throw new Error('There is a task.')
  const services = {
    rpc: { call: async () => outcome && { outcome } },
    commands: { load: async () => ({ state: stateAfter(task, [...before, ...found]) }) },
    documents: {
      now: async () => ({ workingBranch: 'flightdeck/work-12345678', branch: 'main', recorded: null }),
      get: async () => ({ githubOwner: 'ada', githubRepoName: 'engine' }),
      getMany: async () => new Map(),
      find: async () => [],
    },
    access: { tokenOf: async () => 'token' },
    codeHost: {
      repository: async () => ({ id: '1', defaultBranch: 'main' }),
      branch: async () => (atHost === null ? undefined : { commit: atHost, tree: '' }),
      isInOpenPullRequest: async () => false,
      deleteBranch: async () => undefined,
    },
  } as unknown as TaskCleanUpServices
  const { branch, workspace } = await cleanUp(services, state)
  expect(workspace).toBe(outcome ?? 'unreachable')
  return branch
}
const mayGo = 'deleted'

describe('the branch', () => {
  test('of a pull request that was merged may go, whatever becomes of the workspace', async () => {
    expect(await branchAfter(over('merged'), 'not_saved')).toBe(mayGo)
    expect(await branchAfter(over('merged'), undefined)).toBe(mayGo)
  })

  test('of one that was closed may be the only copy until a runner has found the work saved', async () => {
    const closed = over('closed')
    expect(await branchAfter(closed, 'not_saved')).toBe('only_copy')
    expect(await branchAfter(closed, undefined)).toBe('only_copy')
    expect(await branchAfter(closed, 'none')).toBe('only_copy')
    expect(await branchAfter(closed, 'removed', [begun('unknown')])).toBe('only_copy')
    expect(await branchAfter(closed, 'removed', [begun('saved')])).toBe(mayGo)
  })

  test('goes with the second try as well: what the first one found still holds', async () => {
    expect(await branchAfter([...over('closed'), begun('saved')], 'none')).toBe(mayGo)
    // Until there is a workspace again, with other work.
    expect(await branchAfter([...over('closed'), begun('saved'), past.prepared], 'not_saved')).toBe(
      'only_copy',
    )
  })

  test('of a task that goes on is in use', async () => {
    expect(await branchAfter(over('merged'), 'in_use')).toBe('in_use')
    const intent = PullRequestRequested.of(
      { requestId: 'r2', draft: false, automatic: false, rewrites: false },
      { title: '', body: '', tree: null },
    )
    for (const found of [[past.waits(2), past.requested(2)], [intent]]) {
      expect(await branchAfter(over('merged'), 'removed', found)).toBe('in_use')
      expect(await branchAfter(over('closed'), 'removed', [begun('saved'), ...found])).toBe('in_use')
    }
  })
  test('that is gone is never said to be in use, or to be the only copy', async () => {
    const goneAfter = (...[before, outcome, found]: Parameters<typeof branchAfter>) =>
      branchAfter(before, outcome, found, null)
    expect(await goneAfter(over('merged'), 'in_use')).toBe('gone')
    expect(await goneAfter(over('merged'), 'removed', [past.waits(2), past.requested(2)])).toBe('gone')
    expect(await goneAfter(over('closed'), 'not_saved')).toBe('gone')
  })

  test('that an earlier try deleted stays gone while the runner is still at work', async () => {
    const [requestId, startsAnew] = ['clean-up-1', false]
    const before = [
      ...over('merged'),
      TaskCleanUpRequested.of({ requestId }),
      TaskCleanedUp.of({ requestId, branch: 'deleted', workspace: 'unreachable', startsAnew }),
    ]
    const branch = await branchAfter(before, 'in_use', [], null)
    const state = stateAfter(task, [
      ...before,
      TaskCleanedUp.of({ requestId, branch, workspace: 'in_use', startsAnew }),
    ])
    expect(state).toMatchObject({ kind: 'task', cleanUp: { isBranchGone: true } })
  })
})

const ours = 'flightdeck/work-12345678'

interface Scene {
  readonly branch: string
  readonly base: string
  readonly repository: Pick<HostRepository, 'id' | 'defaultBranch'>
  /** Its commit each time that it is asked for; the last one from then on. */
  readonly atHost: readonly (string | null)[]
  readonly isInOpenPullRequest: boolean
  /** Why it may not go after all, asked right before it would. */
  readonly whyKept: () => Promise<'in_use' | 'only_copy' | null>
  readonly others: readonly (readonly TaskEvent[])[]
  /** Of the projects of tasks: `projectId(n)` where it is not told. */
  readonly projects: Readonly<
    Record<string, { readonly githubRepoId: string; readonly githubRepoName: string }>
  >
  /** At which call it is thrown. */
  readonly faults: Partial<Record<'repository' | 'branch' | 'isInOpenPullRequest' | 'deleteBranch', Error>>
}
const usual: Scene = {
  branch: ours,
  base: 'main',
  repository: { id: '1', defaultBranch: 'main' },
  atHost: [headCommit],
  isInOpenPullRequest: false,
  whyKept: async () => null,
  others: [],
  projects: {},
  faults: {},
}

let deleted: string[]
let finds = 0
beforeEach(() => {
  deleted = []
  finds = 0
})

const createdAs = (n: number, branch: string, project = 1) =>
  TaskCreated.of(
    { taskId: taskId(n), ownerId: userId(1), projectId: projectId(project), agent: 'claude' },
    { title: 'Work', description: '', branch, codexModel: null },
  )
const observed = (state: 'merged' | 'open') =>
  PullRequestObserved.of(
    { state, draft: false, updatedAt: '2026-01-31T12:00:00Z', mergedAt: null },
    { number: 7, nodeId: 'PR_7', repositoryId: '1', headCommit, mergedBy: null },
  )
const lifeOf = (n: number, branch: string, base: string): readonly TaskEvent[] => [
  createdAs(n, base),
  WorkspacePrepared.of(
    { executionId: executionId(n) },
    { workingBranch: branch, baseBranch: base, baseCommit: null },
  ),
  PullRequestOpened.of({ requestId: 'r' }, { number: 7, url: '', headCommit }),
]

function projectCreated(id: string, over: Scene['projects'][string] | undefined) {
  return ProjectCreated.of(
    { projectId: id, ownerId: userId(1), isPrivate: false },
    {
      githubUrl: '',
      githubOwner: 'ada',
      githubRepoName: 'engine',
      defaultBranch: 'main',
      language: null,
      githubRepoId: '1',
      name: 'engine',
      description: '',
      ...over,
    },
  )
}

/** The `n`th of its kind. */
function documentOf<D extends ViewDocument>(
  view: View<D>,
  events: readonly AnyEvent[],
  id: string,
  n = 0,
): D | undefined {
  return events
    .map((event, revision) =>
      recorded(event, { revision, stream: `task-${id}`, position: String(n * 100 + revision) }),
    )
    .reduce<D | undefined>((document, event) => view.evolve(document, event as never, id), undefined)
}

async function branchOutcome(over: Partial<Scene> = {}): Promise<string> {
  const scene = { ...usual, ...over }
  const events = [...lifeOf(1, scene.branch, scene.base), observed('merged')]
  const tasks = [events, ...scene.others].map((life, n) => documentOf(tasksView, life, taskId(n + 1), n))
  const projectOf = (id: string) => documentOf(projectsView, [projectCreated(id, scene.projects[id])], id)
  const throwAt = (call: keyof Scene['faults']) => {
    const fault = scene.faults[call]
    if (fault) throw fault
  }
  const atHost = [...scene.atHost]
  const services = {
    documents: {
      now: async (view: { readonly collection: string }) =>
        view.collection === tasksView.collection ? tasks[0] : documentOf(pullRequestsView, events, taskId(1)),
      get: async (_view: unknown, id: string) => projectOf(id),
      getMany: async (_view: unknown, ids: readonly string[]) =>
        new Map(ids.map((id) => [id, projectOf(id)])),
      find: async (_view: unknown, { where, after, limit }: Find) => {
        finds += 1
        return tasks
          .filter((one) => Object.entries(where).every(([field, value]) => Object(one)[field] === value))
          .filter((one) => after === undefined || Object(one).order > after.value)
          .slice(0, limit)
      },
    },
    access: { tokenOf: async () => 'token' },
    codeHost: {
      repository: async () => {
        throwAt('repository')
        return scene.repository
      },
      branch: async () => {
        throwAt('branch')
        const commit = atHost.length > 1 ? atHost.shift() : atHost[0]
        return commit == null ? undefined : { commit, tree: '' }
      },
      isInOpenPullRequest: async () => {
        throwAt('isInOpenPullRequest')
        return scene.isInOpenPullRequest
      },
      deleteBranch: async (_token: string, _at: unknown, branch: string) => {
        throwAt('deleteBranch')
        deleted.push(branch)
      },
    },
  } as unknown as BranchCleanUp
  const state = stateAfter(task, events)
  if (state.kind !== 'task') throw new Error('There is a task.')
  return cleanUpBranch(services, state, scene.whyKept)
}

describe('the branch of a merged pull request', () => {
  test('is deleted where it stands as it was merged', async () => {
    expect(await branchOutcome()).toBe('deleted')
    expect(deleted).toEqual([ours])
  })

  test.each<readonly [string, string, Partial<Scene>]>([
    ['is gone already', 'gone', { atHost: [null] }],
    ['was pushed to since', 'moved', { atHost: ['e'.repeat(40)] }],
    ['is pushed to while we look who uses it', 'moved', { atHost: [headCommit, 'e'.repeat(40)] }],
    ['goes while we look who uses it', 'gone', { atHost: [headCommit, null] }],
    ['is in another open pull request', 'in_use', { isInOpenPullRequest: true }],
    ['its task goes on with meanwhile', 'in_use', { whyKept: async () => 'in_use' }],
    ['is where another task began', 'in_use', { others: [[createdAs(2, ours)]] }],
    ['is the default branch by now', 'not_ours', { repository: { id: '1', defaultBranch: ours } }],
    ['is the base', 'not_ours', { base: ours }],
    ['has no name of ours', 'not_ours', { branch: 'release' }],
    [
      'is in a repository that has taken the name',
      'not_ours',
      { repository: { id: '2', defaultBranch: 'main' } },
    ],
    ['is out of reach', 'no_access', { faults: { repository: new CodeHostFault('not_found', '') } }],
    ['is behind a sign-on', 'no_access', { faults: { branch: new CodeHostFault('forbidden', '') } }],
    [
      'belongs to somebody who disconnected',
      'no_access',
      { faults: { repository: new Fault('github_not_connected') } },
    ],
    [
      'is refused, as a protected one is',
      'refused',
      { faults: { deleteBranch: new CodeHostFault('invalid', 'Protected') } },
    ],
    ['cannot be asked for', 'unavailable', { faults: { branch: new CodeHostFault('unavailable', '') } }],
    [
      'was seen before the code host went away',
      'unchecked',
      { faults: { isInOpenPullRequest: new CodeHostFault('unavailable', '') } },
    ],
    [
      'may be deleted without an answer',
      'unavailable',
      { faults: { deleteBranch: new CodeHostFault('unavailable', '') } },
    ],
  ])('that %s is left: %s', async (_why, outcome, over) => {
    expect(await branchOutcome(over)).toBe(outcome)
    expect(deleted).toEqual([])
  })

  test('is used by a task until that is done with its own pull request', async () => {
    const over = [...lifeOf(2, ours, 'main'), observed('merged')]
    expect(await branchOutcome({ others: [over] })).toBe('deleted')
    expect(await branchOutcome({ others: [lifeOf(2, ours, 'main')] })).toBe('in_use')
    const running = [...over, past.waits(2), past.requested(2)]
    expect(await branchOutcome({ others: [running] })).toBe('in_use')
    expect(await branchOutcome({ others: [[...running, past.succeeded(2)]] })).toBe('in_use')
  })

  test('is used by tasks of other projects on the repository, and by none of another repository', async () => {
    const others = [[createdAs(2, ours, 2)]]
    const as = (githubRepoId: string, githubRepoName: string) =>
      branchOutcome({ others, projects: { [projectId(2)]: { githubRepoId, githubRepoName } } })
    expect(await as('1', 'renamed')).toBe('in_use')
    expect(await as('', 'Engine')).toBe('in_use')
    expect(await as('2', 'engine')).toBe('deleted')
    expect(await as('', 'other')).toBe('deleted')
  })

  test('is looked for among the tasks on it alone, however many there are', async () => {
    const others = Array.from({ length: 600 }, (_, n) => [createdAs(n + 2, 'main', n + 2)])
    expect(await branchOutcome({ others: [...others, [createdAs(700, ours, 700)]] })).toBe('in_use')
    expect(finds).toBe(2)
    const over = (n: number) => [...lifeOf(n, ours, 'main'), observed('merged')]
    const many = Array.from({ length: 1_001 }, (_, n) => over(n + 2))
    // Nobody looks through more than a thousand.
    expect(await branchOutcome({ others: many })).toBe('in_use')
    expect(finds).toBe(7)
  })
})
