/** The branch of a pull request that is over, at a code host that says what it is told. */
import { beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import type { AnyEvent } from '#domain/kernel/event.ts'
import { ProjectCreated } from '#domain/project/events.ts'
import {
  PullRequestObserved,
  PullRequestOpened,
  TaskCreated,
  WorkspacePrepared,
  type TaskEvent,
} from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { projectsView } from '#domain/views/projects.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import { CodeHostFault, type HostRepository } from '#platform/ports/codeHost.ts'
import { stateAfter } from '../../../tests/domain/given.ts'
import { executionId, projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import { cleanUpBranch, type BranchCleanUp } from './mergedBranch.ts'

const ours = 'flightdeck/work-12345678'
const headCommit = 'c'.repeat(40)

interface Scene {
  readonly branch: string
  readonly base: string
  readonly repository: Pick<HostRepository, 'id' | 'defaultBranch'>
  readonly atHost: string | null
  readonly isInOpenPullRequest: boolean
  readonly others: readonly (readonly TaskEvent[])[]
  readonly fault: Error | null
}
const usual: Scene = {
  branch: ours,
  base: 'main',
  repository: { id: '1', defaultBranch: 'main' },
  atHost: headCommit,
  isInOpenPullRequest: false,
  others: [],
  fault: null,
}

let deleted: string[]
beforeEach(() => (deleted = []))

const createdAs = (n: number, branch: string) =>
  TaskCreated.of(
    { taskId: taskId(n), ownerId: userId(1), projectId: projectId(1), agent: 'claude' },
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

function documentOf<D extends ViewDocument>(
  view: View<D>,
  events: readonly AnyEvent[],
  id: string,
): D | undefined {
  return events
    .map((event, revision) => recorded(event, { revision, stream: `task-${id}` }))
    .reduce<D | undefined>((document, event) => view.evolve(document, event as never, id), undefined)
}

async function cleanUp(over: Partial<Scene> = {}): Promise<string> {
  const scene = { ...usual, ...over }
  const events = [...lifeOf(1, scene.branch, scene.base), observed('merged')]
  const project = ProjectCreated.of(
    { projectId: projectId(1), ownerId: userId(1), isPrivate: false },
    {
      githubUrl: '',
      githubOwner: 'ada',
      githubRepoName: 'engine',
      defaultBranch: 'main',
      language: null,
      githubRepoId: '1',
      name: 'engine',
      description: '',
    },
  )
  const kept = new Map<string, readonly (ViewDocument | undefined)[]>([
    [
      tasksView.collection,
      [events, ...scene.others].map((life, n) => documentOf(tasksView, life, taskId(n + 1))),
    ],
    [pullRequestsView.collection, [documentOf(pullRequestsView, events, taskId(1))]],
    [projectsView.collection, [documentOf(projectsView, [project], projectId(1))]],
  ])
  const first = async (view: { readonly collection: string }) => kept.get(view.collection)?.[0]
  const services = {
    documents: {
      now: first,
      get: first,
      find: async (view: { collection: string }) => kept.get(view.collection),
    },
    access: { tokenOf: async () => 'token' },
    codeHost: {
      repository: async () => {
        if (scene.fault) throw scene.fault
        return scene.repository
      },
      branch: async () => (scene.atHost === null ? undefined : { commit: scene.atHost, tree: '' }),
      isInOpenPullRequest: async () => scene.isInOpenPullRequest,
      deleteBranch: async (_token: string, _at: unknown, branch: string) => void deleted.push(branch),
    },
  } as unknown as BranchCleanUp
  const state = stateAfter(task, events)
  if (state.kind !== 'task') throw new Error('There is a task.')
  return cleanUpBranch(services, state)
}

describe('the branch of a merged pull request', () => {
  test('is deleted where it stands as it was merged', async () => {
    expect(await cleanUp()).toBe('deleted')
    expect(deleted).toEqual([ours])
  })

  test.each<readonly [string, string, Partial<Scene>]>([
    ['is gone already', 'gone', { atHost: null }],
    ['was pushed to since', 'moved', { atHost: 'e'.repeat(40) }],
    ['is in another open pull request', 'in_use', { isInOpenPullRequest: true }],
    ['is where another task began', 'in_use', { others: [[createdAs(2, ours)]] }],
    ['is the default branch by now', 'not_ours', { repository: { id: '1', defaultBranch: ours } }],
    ['is the base', 'not_ours', { base: ours }],
    ['has no name of ours', 'not_ours', { branch: 'release' }],
    [
      'is in a repository that has taken the name',
      'not_ours',
      { repository: { id: '2', defaultBranch: 'main' } },
    ],
    ['is out of reach', 'no_access', { fault: new CodeHostFault('not_found', '') }],
    ['belongs to somebody who disconnected', 'no_access', { fault: new Fault('github_not_connected') }],
    ['is refused, as a protected one is', 'refused', { fault: new CodeHostFault('invalid', 'Protected') }],
    ['cannot be asked for', 'unavailable', { fault: new CodeHostFault('unavailable', '') }],
  ])('that %s stays: %s', async (_why, outcome, over) => {
    expect(await cleanUp(over)).toBe(outcome)
    expect(deleted).toEqual([])
  })

  test('is no longer used by a task whose own pull request is over', async () => {
    const over = [...lifeOf(2, ours, 'main'), observed('merged')]
    expect(await cleanUp({ others: [over] })).toBe('deleted')
    expect(await cleanUp({ others: [lifeOf(2, ours, 'main')] })).toBe('in_use')
  })
})
