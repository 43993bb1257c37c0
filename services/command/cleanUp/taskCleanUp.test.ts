/** A branch goes only when the work on it was merged, or a runner found it saved. */
import { describe, expect, test } from 'vitest'
import type { BranchOutcome, WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import { TaskCleanedUp, TaskCleanUpBegun, TaskCleanUpRequested } from '#domain/task/codeHost/cleanUpEvents.ts'
import {
  PullRequestObserved,
  PullRequestOpened,
  PullRequestRequested,
  type TaskEvent,
} from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { stateAfter } from '../../../tests/domain/given.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cleanUp, type TaskCleanUpServices } from './taskCleanUp.ts'

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
    rpc: { ask: async () => outcome && { outcome } },
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
