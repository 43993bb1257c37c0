/** A clean-up comes only after the pull request and is recorded once; after a merge, the task starts again from the base branch. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../../tests/domain/given.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { tasksView, type TaskDocument } from '../../views/tasks.ts'
import { TaskCleanedUp, TaskCleanUpBegun, TaskCleanUpRequested } from './cleanUpEvents.ts'
import { startsAnew } from './cleanUpState.ts'
import {
  PullRequestFailed,
  PullRequestObserved,
  PullRequestOpened,
  PullRequestRequested,
  PullRequestUpdated,
  type TaskEvent,
} from '../events.ts'
import { task } from '../task.ts'

const headCommit = 'c'.repeat(40)
const intent = PullRequestRequested.of(
  { requestId: 'request-1', draft: false, automatic: false, rewrites: false },
  { title: past.title, body: '', tree: past.changedTree },
)
const published = [
  ...past.running,
  past.prepared,
  past.changed(2),
  past.succeeded(1),
  intent,
  PullRequestOpened.of({ requestId: 'request-1' }, { number: 7, url: '', headCommit }),
]
const stands = (state: 'open' | 'closed' | 'merged') =>
  PullRequestObserved.of(
    { state, draft: false, updatedAt: '2026-01-31T12:00:00Z', mergedAt: null },
    { number: 7, nodeId: 'PR_7', repositoryId: '1', headCommit, mergedBy: null },
  )
const merged = [...published, stands('merged')]
const request = { type: 'RequestCleanUp', requestId: 'clean-up-1' } as const
const requested = TaskCleanUpRequested.of({ requestId: 'clean-up-1' })
const settle = {
  type: 'SettleCleanUp',
  requestId: 'clean-up-1',
  branch: 'deleted',
  workspace: 'removed',
} as const
const { type: _type, ...settled } = settle
const outcome = { ...settled, startsAnew: true }
const begun = TaskCleanUpBegun.of({ work: 'merged' })
const cleanedUp = TaskCleanedUp.of(outcome)

const cleanedUpLater = TaskCleanedUp.of({ ...outcome, branch: 'gone', startsAnew: false })
function beginsAnewAfter(...events: readonly TaskEvent[]): boolean {
  const state = stateAfter(task, [...merged, requested, ...events])
  return state.kind === 'task' && startsAnew(state.cleanUp)
}

describe('clean-up', () => {
  test('is for pull requests that are over, while nothing runs and nothing is published', () => {
    given(task, published).when(request).thenRefused('pull_request_open')
    given(task, [...published, stands('open')])
      .when(request)
      .thenRefused('pull_request_open')
    for (const state of ['merged', 'closed'] as const)
      given(task, [...published, stands(state)])
        .when(request)
        .then([requested])
    given(task, [...merged, past.waits(2), past.requested(2)])
      .when(request)
      .thenRefused('task_running')
    given(task, [...merged, intent])
      .when(request)
      .thenRefused('task_running')
  })

  test('can be asked for again, and only the latest is settled, once', () => {
    given(task, [...merged, requested])
      .when({ ...request, requestId: 'clean-up-2' })
      .then([TaskCleanUpRequested.of({ requestId: 'clean-up-2' })])
    given(task, [...merged, requested, begun])
      .when(settle)
      .then([cleanedUp])
    given(task, [...merged, requested])
      .when({ ...settle, requestId: 'clean-up-0' })
      .thenNothing()
    given(task, [...merged, requested, cleanedUp])
      .when(settle)
      .thenNothing()
  })

  test('is begun by the runner while the pull request is over and the task does not go on', () => {
    const begin = { type: 'BeginCleanUp', work: 'merged' } as const
    given(task, [...merged, requested])
      .when(begin)
      .then([begun])
    given(task, [...merged, requested, past.waits(2), past.requested(2)])
      .when(begin)
      .thenRefused('task_running')
    given(task, [...published, stands('open')])
      .when(begin)
      .thenRefused('pull_request_open')
  })

  test('lets the next workspace begin at the base branch only where all was merged and the branch is gone', () => {
    given(task, [...merged, requested, begun])
      .when({ ...settle, branch: 'moved' })
      .then([TaskCleanedUp.of({ ...outcome, branch: 'moved', startsAnew: false })])
    given(task, [...merged, requested, TaskCleanUpBegun.of({ work: 'saved' })])
      .when(settle)
      .then([TaskCleanedUp.of({ ...outcome, startsAnew: false })])
    expect(beginsAnewAfter(begun, cleanedUp)).toBe(true)
    expect(beginsAnewAfter(begun, cleanedUp, past.prepared)).toBe(false)
    // As it was recorded before its beginning was.
    expect(beginsAnewAfter(cleanedUp)).toBe(true)
  })

  test('that takes more tries begins anew as one that took a single one', () => {
    const first = TaskCleanedUp.of({ ...outcome, branch: 'unavailable', startsAnew: false })
    const again = TaskCleanUpRequested.of({ requestId: 'clean-up-2' })
    // The branch was left, its runner answered too late, nothing was settled; and then all is gone.
    for (const before of [
      [begun, first],
      [TaskCleanedUp.of({ ...settled, workspace: 'unreachable', startsAnew: false }), begun],
      [begun],
    ])
      given(task, [...merged, requested, ...before, again])
        .when({ ...settle, requestId: 'clean-up-2', branch: 'gone', workspace: 'none' })
        .then([
          TaskCleanedUp.of({ requestId: 'clean-up-2', branch: 'gone', workspace: 'none', startsAnew: true }),
        ])
    expect(beginsAnewAfter(begun, first)).toBe(false)
    // The runner was late: the branch was gone before its workspace was.
    expect(beginsAnewAfter(TaskCleanedUp.of({ ...outcome, startsAnew: false }), begun)).toBe(true)
  })

  test('that found the branch gone keeps to that until the branch is seen again', () => {
    const then = (branch: 'unavailable' | 'moved') =>
      beginsAnewAfter(begun, cleanedUp, TaskCleanedUp.of({ ...outcome, branch, startsAnew: false }))
    expect(then('unavailable')).toBe(true)
    expect(then('moved')).toBe(false)
  })

  test('a turn that began meanwhile makes its workspace: the next does not begin anew', () => {
    const began = [past.waits(2, 'turn', 'claude', 'Go on'), past.requested(2), past.started(2)]
    given(task, [...merged, requested, begun, ...began])
      .when(settle)
      .then([TaskCleanedUp.of({ ...outcome, startsAnew: false })])
    const late = TaskCleanedUp.of({ ...outcome, startsAnew: false })
    expect(beginsAnewAfter(begun, ...began, past.prepared, late)).toBe(false)
  })

  test('of a workspace with later work says nothing by what was true of the one before', () => {
    const worked = [past.waits(2), past.requested(2), past.prepared, past.succeeded(2)]
    expect(
      beginsAnewAfter(begun, cleanedUp, ...worked, TaskCleanUpBegun.of({ work: 'saved' }), cleanedUpLater),
    ).toBe(false)
  })

  test('leaves nothing to open a pull request with, until there is a turn', () => {
    const again = {
      type: 'RequestPullRequest',
      requestId: 'request-2',
      title: null,
      body: null,
      draft: false,
      autoUpdate: null,
      opensNew: true,
    } as const
    given(task, [...merged, requested, cleanedUp])
      .when(again)
      .thenRefused('no_changes')
    given(task, [...merged, requested, TaskCleanedUp.of({ ...outcome, startsAnew: false })])
      .when(again)
      .then([
        PullRequestRequested.of(
          { requestId: 'request-2', draft: false, automatic: false, rewrites: false },
          { title: past.title, body: past.description, tree: past.changedTree },
        ),
      ])
  })

  const fold = (events: readonly TaskEvent[]) =>
    events
      .map((event, revision) => recorded(event, { revision }))
      .reduce<TaskDocument | undefined>(
        (document, event) => tasksView.evolve(document, event, 'task-1'),
        undefined,
      )

  test('is shown on the task until the task goes on', () => {
    expect(fold([...merged, requested, cleanedUp])?.cleanUp).toMatchObject({
      branch: 'deleted',
      workspace: 'removed',
    })
    expect(fold([...merged, requested])).not.toHaveProperty('cleanUp')
    expect(fold([...merged, requested, cleanedUp, past.waits(2), past.requested(2)])).not.toHaveProperty(
      'cleanUp',
    )
  })

  const noted = (...events: readonly TaskEvent[]) => fold([...merged, requested, ...events])
  const isAgain = PullRequestOpened.of({ requestId: 'request-1' }, { number: 8, url: '', headCommit })

  test('of one pull request is not shown on the next, nor on one that was open again', () => {
    for (const next of [isAgain, stands('open')]) {
      expect(noted(cleanedUp, next)).not.toHaveProperty('cleanUp')
      expect(noted(cleanedUp, next, stands('merged'))).not.toHaveProperty('cleanUp')
    }
    expect(noted(cleanedUp, stands('merged'))).toHaveProperty('cleanUp')
  })

  test('that ends after the task went on is not shown', () => {
    const waiting = [begun, past.waits(2), past.requested(2)]
    const late = TaskCleanedUp.of({ ...outcome, startsAnew: false })
    for (const on of [
      waiting,
      [...waiting, past.prepared],
      [...waiting, past.prepared, past.succeeded(2)],
      [begun, intent, isAgain, stands('merged')],
      [begun, stands('open'), stands('merged')],
    ])
      expect(noted(...on, late)).not.toHaveProperty('cleanUp')
    // Asked for once more, it is.
    expect(noted(...waiting, past.succeeded(2), late, requested, cleanedUp)).toHaveProperty('cleanUp')
  })

  test('leaves no later work where all of it is in the merge, however many tries it took', () => {
    const on = [past.waits(2), past.requested(2), past.prepared, past.succeeded(2)]
    const of = (...events: readonly TaskEvent[]) => fold([...merged, ...on, requested, ...events])
    const late = TaskCleanedUp.of({ ...outcome, workspace: 'unreachable', startsAnew: false })
    expect(of(late)).toHaveProperty('laterWork')
    expect(of(late, begun)).not.toHaveProperty('laterWork')
    const left = TaskCleanedUp.of({ ...outcome, branch: 'unavailable', startsAnew: false })
    expect(of(begun, left)).toHaveProperty('laterWork')
    expect(of(begun, left, requested, cleanedUpLater)).not.toHaveProperty('laterWork')
    // A turn that was asked for meanwhile may do more.
    expect(of(begun, past.waits(3), past.requested(3), late)).toHaveProperty('laterWork')
  })

  test('is told of work after the last publication, until that is published or there is nothing of it', () => {
    const on = [past.waits(2), past.requested(2), past.succeeded(2)]
    expect(fold(merged)).not.toHaveProperty('laterWork')
    expect(fold([...merged, ...on])).toMatchObject({ laterWork: true })
    const updated = PullRequestUpdated.of({ requestId: 'request-1' }, { number: 7, url: '', headCommit })
    expect(fold([...published, ...on, updated])).not.toHaveProperty('laterWork')
    const failed = (code: string) =>
      PullRequestFailed.of({ requestId: 'request-1', code }, { reason: 'It could not be.' })
    expect(fold([...published, ...on, failed('no_changes')])).not.toHaveProperty('laterWork')
    expect(fold([...published, ...on, failed('push_failed')])).toMatchObject({ laterWork: true })
    // Cleaned up with the later work saved, and with all of it merged.
    const saved = TaskCleanedUp.of({ ...outcome, startsAnew: false })
    expect(fold([...merged, ...on, requested, saved])).toMatchObject({ laterWork: true })
    expect(fold([...merged, ...on, requested, cleanedUp])).not.toHaveProperty('laterWork')
  })
})
