/** Of a pull request, first the intent and then the outcome is recorded; one at a time. */
import { assert, property, shuffledSubarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TaskEvent } from '../events.ts'
import { given, stateAfter } from '../../../tests/domain/given.ts'
import { executionId, messageId, taskId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { isRefusal } from '../../kernel/decider.ts'
import type { ObservedPullRequest } from '../commands.ts'
import {
  AlternativeAdded,
  MessagePosted,
  PullRequestAutoUpdateChanged,
  PullRequestFailed,
  PullRequestObserved,
  PullRequestOpened,
  PullRequestRequested,
  PullRequestUnreadable,
  PullRequestUpdated,
} from '../events.ts'
import { task } from '../task.ts'

const request = {
  type: 'RequestPullRequest',
  requestId: 'request-1',
  title: null,
  body: null,
  draft: false,
  autoUpdate: null,
} as const
const asked = PullRequestRequested.of(
  { requestId: 'request-1', draft: false, automatic: false, rewrites: false },
  { title: past.title, body: past.description, tree: past.changedTree },
)
const url = 'https://code.example/acme/hello/pull/7'
const headCommit = 'c'.repeat(40)
const settle = (kind: 'opened' | 'updated', requestId = 'request-1') =>
  ({
    type: 'SettlePullRequest',
    requestId,
    outcome: { kind, number: 7, url, headCommit, messageId: messageId(9) },
    nextRequestId: 'request-2',
  }) as const
const opened = PullRequestOpened.of({ requestId: 'request-1' }, { number: 7, url, headCommit })
const said = (message: string) =>
  MessagePosted.of(
    { messageId: messageId(9), messageType: 'system', agent: null, executionId: null },
    { message },
  )

const changed = [...past.running, past.prepared, past.changed(2), past.succeeded(1)]

describe('a request', () => {
  test('is titled and described by the task', () => given(task, changed).when(request).then([asked]))

  test('may bring its own words', () =>
    given(task, changed)
      .when({ ...request, title: 'Greet', body: 'Says hello.', draft: true })
      .then([
        PullRequestRequested.of(
          { requestId: 'request-1', draft: true, automatic: false, rewrites: true },
          { title: 'Greet', body: 'Says hello.', tree: past.changedTree },
        ),
      ]))

  test('needs a workspace', () => given(task, past.running).when(request).thenRefused('not_initialized'))

  test('of changes that were never recorded is made: the runner knows whether there are any', () =>
    given(task, past.running, past.prepared, past.succeeded(1))
      .when(request)
      .then([PullRequestRequested.of(asked.data, { ...asked.content, tree: null })]))

  test('of changes that were not recorded is refused once they are: nobody has seen them', () => {
    given(task, changed, past.changed(2, null))
      .when({ ...request, tree: null })
      .then([PullRequestRequested.of(asked.data, { ...asked.content, tree: null })])
    given(task, changed)
      .when({ ...request, tree: null })
      .thenRefused('changes_moved')
  })

  test('needs the changes that are there now', () =>
    given(task, changed, past.changed(0)).when(request).thenRefused('no_changes'))

  test('needs no changes to update the pull request there is', () =>
    given(task, changed, asked, opened, past.changed(0)).when(request).then([asked]))

  test('while one is being made is that one', () =>
    given(task, changed, asked)
      .when({ ...request, requestId: 'request-2' })
      .thenNothing())

  test('while one is being made is refused if it asks for something else', () => {
    const own = { ...request, requestId: 'request-2', title: past.title, body: past.description }
    given(task, changed, asked).when(own).thenNothing()
    for (const other of [{ title: 'Greet' }, { body: 'Says hello.' }, { draft: true }])
      given(task, changed, asked)
        .when({ ...own, ...other })
        .thenRefused('conflict')
    const draft = PullRequestRequested.of({ ...asked.data, draft: true }, asked.content)
    given(task, changed, draft).when(own).thenRefused('conflict')
    given(task, changed, draft)
      .when({ ...own, draft: null })
      .thenNothing()
    given(task, changed, draft, opened)
      .when(own)
      .then([{ ...asked, data: { ...asked.data, requestId: 'request-2', rewrites: true } }])
  })

  test('finding 2: is for the tree that was recorded last, whatever is recorded meanwhile', () => {
    const other = 'e'.repeat(40)
    const { data, content } = asked
    given(task, changed, past.changed(3, other))
      .when(request)
      .then([PullRequestRequested.of(data, { ...content, tree: other })])
    given(task, changed)
      .when({ ...request, tree: past.changedTree })
      .then([asked])
    given(task, changed, past.changed(3, other))
      .when({ ...request, tree: past.changedTree })
      .thenRefused('changes_moved')
    given(task, changed, past.changed(3, other), asked)
      .when({ ...request, tree: past.changedTree })
      .thenRefused('changes_moved')
  })

  test('finding 16: while a turn waits or runs is refused', () => {
    const waits = [past.waits(2), past.requested(2)]
    given(task, changed, waits).when(request).thenRefused('task_running')
    given(task, changed, waits, past.started(2)).when(request).thenRefused('task_running')
    given(task, past.commandRunning(changed)).when(request).thenRefused('task_running')
  })

  test('records the changes that it finds, as long as it is being made', () => {
    const found = past.changed(3, 'e'.repeat(40))
    const record = { type: 'RecordChanges', requestId: 'request-1', changes: found } as const
    given(task, changed, asked).when(record).then([found])
    given(task, changed, asked, opened).when(record).thenRefused('evicted')
    given(task, changed).when(record).thenRefused('evicted')
  })

  test('may be repeated once the one before failed', () =>
    given(
      task,
      changed,
      asked,
      PullRequestFailed.of({ requestId: 'request-1', code: 'code_host_refused' }, { reason: 'No.' }),
    )
      .when(request)
      .then([asked]))
})

describe('an outcome', () => {
  test('is told in the chat when the pull request was opened', () =>
    given(task, changed, asked)
      .when(settle('opened'))
      .then([opened, said(`Pull request #7 created successfully: ${url}`)]))

  test('is told in the chat when the pull request was updated', () =>
    given(task, changed, asked)
      .when(settle('updated'))
      .then([
        PullRequestUpdated.of({ requestId: 'request-1' }, { number: 7, url, headCommit }),
        said(`Pull request #7 updated successfully: ${url}`),
      ]))

  test('says where the origin of the lines was not published', () => {
    const { outcome, ...rest } = settle('opened')
    given(task, changed, asked)
      .when({ ...rest, outcome: { ...outcome, notesRefused: 'the code host did not take the notes: no' } })
      .then([
        opened,
        said(
          `Pull request #7 created successfully: ${url}\n\nThe origin of its lines was not published beside the commits: the code host did not take the notes: no.`,
        ),
      ])
  })

  test('keeps the reason of a failure', () =>
    given(task, changed, asked)
      .when({
        type: 'SettlePullRequest',
        requestId: 'request-1',
        outcome: { kind: 'failed', code: 'code_host_refused', reason: 'The branch is protected.' },
        nextRequestId: 'request-2',
      })
      .then([
        PullRequestFailed.of(
          { requestId: 'request-1', code: 'code_host_refused' },
          { reason: 'The branch is protected.' },
        ),
      ]))

  test('is recorded once', () =>
    given(task, changed, asked, opened).when(settle('opened')).thenRefused('evicted'))

  test('of another request is refused', () =>
    given(task, changed, asked).when(settle('opened', 'request-0')).thenRefused('evicted'))

  test('keeps the number', () =>
    expect(stateAfter(task, changed, asked, opened)).toMatchObject({
      pullRequest: { number: 7 },
      pullRequestRequest: null,
    }))
})

describe('updates by themselves', () => {
  const on = PullRequestAutoUpdateChanged.of({ on: true })
  const off = PullRequestAutoUpdateChanged.of({ on: false })
  /** The request that the end of a turn makes: it is named by what would have been the next execution. */
  const update = (requestId: string) =>
    PullRequestRequested.of(
      { requestId, draft: false, automatic: true, rewrites: false },
      { title: past.title, body: past.description, tree: past.changedTree },
    )
  const there = [...changed, on, asked, opened]
  const followUp = [past.waits(2), past.requested(2), past.started(2), past.delivered(2)]
  const end = (kind: 'completed' | 'cancelled', n = 2) =>
    ({
      type: 'EndExecution',
      fence: { executionId: executionId(n), attempt: 1 },
      outcome: kind === 'completed' ? { kind, exitCode: null } : { kind },
      terminal: null,
      nextExecutionId: executionId(3),
    }) as const

  test('are asked for with the pull request, and kept', () =>
    given(task, changed)
      .when({ ...request, autoUpdate: true })
      .then([on, asked]))

  test('may be asked for, and called off, while one is being made', () =>
    given(task, changed, on, asked)
      .when({ ...request, autoUpdate: false })
      .then([off]))

  test('that are asked for already are not asked for again', () =>
    given(task, there)
      .when({ ...request, autoUpdate: true })
      .then([asked]))

  test('come with the end of a turn that went well', () =>
    given(task, there, followUp)
      .when(end('completed'))
      .then([past.succeeded(2), update(executionId(3))]))

  test('do not come with a turn that was cancelled, with a command, or unasked', () => {
    given(task, there, followUp)
      .when(end('cancelled'))
      .then([past.stopped(2)])
    given(task, past.commandRunning(there))
      .when(end('completed'))
      .then([past.succeeded(2)])
    given(task, changed, asked, opened, followUp)
      .when(end('completed'))
      .then([past.succeeded(2)])
  })

  test('do not come before there is a pull request', () =>
    given(task, changed, on, followUp)
      .when(end('completed'))
      .then([past.succeeded(2)]))

  test('wait for the last of several turns, however that ends', () => {
    const two = [...there, ...followUp, past.waits(3)]
    given(task, two)
      .when(end('completed'))
      .then([past.succeeded(2), past.requested(3)])
    const third = [past.succeeded(2), past.requested(3), past.started(3), past.delivered(3)]
    given(task, two, third)
      .when({ ...end('cancelled', 3), nextExecutionId: executionId(4) })
      .then([past.stopped(3), update(executionId(4))])
  })

  test('follow what was being published while the turn ended', () => {
    const meanwhile = [...there, asked, ...followUp]
    given(task, meanwhile)
      .when(end('completed'))
      .then([past.succeeded(2)])
    given(task, meanwhile, past.succeeded(2))
      .when(settle('updated'))
      .then([
        PullRequestUpdated.of({ requestId: 'request-1' }, { number: 7, url, headCommit }),
        said(`Pull request #7 updated successfully: ${url}`),
        update('request-2'),
      ])
  })

  test('finding 16: that came while a turn ran come again when it ends, however it ends', () => {
    const meanwhile = [...there, update('request-2'), ...followUp]
    const early = {
      type: 'SettlePullRequest',
      requestId: 'request-2',
      outcome: { kind: 'failed', code: 'task_running', reason: 'It runs.' },
      nextRequestId: 'request-3',
    } as const
    const failed = PullRequestFailed.of(
      { requestId: 'request-2', code: 'task_running' },
      { reason: 'It runs.' },
    )
    given(task, meanwhile).when(early).then([failed])
    given(task, meanwhile, failed)
      .when(end('cancelled'))
      .then([past.stopped(2), update(executionId(3))])
    given(task, meanwhile, past.stopped(2))
      .when(early)
      .then([failed, update('request-3')])
  })

  test('that had nothing to push say nothing', () =>
    given(task, there, update('request-2'))
      .when({
        type: 'SettlePullRequest',
        requestId: 'request-2',
        outcome: { kind: 'updated', number: 7, url, headCommit, messageId: null },
        nextRequestId: 'request-3',
      })
      .then([PullRequestUpdated.of({ requestId: 'request-2' }, { number: 7, url, headCommit })]))

  test('that fail are told in the chat, since nobody waits for them', () =>
    given(task, there, update('request-2'))
      .when({
        type: 'SettlePullRequest',
        requestId: 'request-2',
        outcome: { kind: 'failed', code: 'code_host_refused', reason: 'No.', messageId: messageId(9) },
        nextRequestId: 'request-3',
      })
      .then([
        PullRequestFailed.of({ requestId: 'request-2', code: 'code_host_refused' }, { reason: 'No.' }),
        said('The pull request was not updated: No.'),
      ]))

  test('end with the pull request', () =>
    given(task, there, update('request-2'))
      .when({
        type: 'SettlePullRequest',
        requestId: 'request-2',
        outcome: { kind: 'closed', reason: 'It is closed.', messageId: messageId(9) },
        nextRequestId: 'request-3',
      })
      .then([
        PullRequestFailed.of(
          { requestId: 'request-2', code: 'pull_request_closed' },
          { reason: 'It is closed.' },
        ),
        off,
        said('It is closed.'),
      ]))
})

describe('what the code host says of it', () => {
  const has = [...changed, asked, opened]
  const said = {
    number: 7,
    nodeId: 'PR_7',
    repositoryId: '1',
    state: 'open',
    draft: false,
    headCommit,
    updatedAt: '2026-01-31T12:00:00Z',
    mergedAt: null,
    mergedBy: null,
  } as const
  const merge = {
    ...said,
    state: 'merged',
    updatedAt: '2026-01-31T12:00:05Z',
    mergedAt: '2026-01-31T12:00:05Z',
    mergedBy: 'grace',
  } as const
  const observe = (observed: ObservedPullRequest) => ({ type: 'ObservePullRequest', observed }) as const
  const observed = ({ state, draft, updatedAt, mergedAt, ...content }: ObservedPullRequest) =>
    PullRequestObserved.of({ state, draft, updatedAt, mergedAt }, content)

  test('is recorded when it is news', () => {
    given(task, has)
      .when(observe(said))
      .then([observed(said)])
    given(task, has, observed(said))
      .when(observe(merge))
      .then([observed(merge)])
    given(task, has, observed(said))
      .when(observe({ ...said, draft: true }))
      .then([observed({ ...said, draft: true })])
  })

  test('is dropped when it says nothing new, is older, or is of another pull request', () => {
    given(task, has, observed(said))
      .when(observe({ ...said, updatedAt: '2026-01-31T12:00:09Z' }))
      .thenNothing()
    given(task, has, observed({ ...said, state: 'closed', updatedAt: '2026-01-31T12:00:09Z' }))
      .when(observe(said))
      .thenNothing()
    given(task, has)
      .when(observe({ ...said, number: 6 }))
      .thenNothing()
    given(task, changed).when(observe(said)).thenNothing()
  })

  test('a merge is the end, also within the second', () =>
    given(task, has, observed(merge))
      .when(observe({ ...said, updatedAt: merge.updatedAt }))
      .thenNothing())

  test('in whatever order and however often it is heard, the end is the same', () => {
    const steps = [
      said,
      { ...said, draft: true, updatedAt: '2026-01-31T12:00:01Z' },
      { ...said, state: 'closed', updatedAt: '2026-01-31T12:00:03Z' },
      merge,
    ] as const
    assert(
      property(shuffledSubarray([...steps, ...steps, ...steps], { minLength: 8 }), (heard) => {
        const end = [...heard, merge].reduce(
          (state, one) => {
            const decision = task.decide(observe(one), state)
            return isRefusal(decision)
              ? state
              : decision.reduce((now, event) => task.evolve(now, recorded(event, { revision: 99 })), state)
          },
          stateAfter(task, has),
        )
        expect(end).toMatchObject({ pullRequest: { observed: { state: 'merged', mergedBy: 'grace' } } })
      }),
    )
  })

  test('that it is not shown is recorded once, until it is shown again', () => {
    const miss = { type: 'MissPullRequest', number: 7, code: 'not_found' } as const
    const missed = PullRequestUnreadable.of({ code: 'not_found' })
    given(task, has).when(miss).then([missed])
    given(task, has, missed).when(miss).thenNothing()
    given(task, has, observed(said), missed)
      .when(observe(said))
      .then([observed(said)])
    given(task, has)
      .when({ ...miss, number: 6 })
      .thenNothing()
  })

  test('a merged or closed one is not updated; a new one is opened where the person asks', () => {
    const closed = { ...said, state: 'closed' } as const
    given(task, has, observed(merge)).when(request).thenRefused('pull_request_merged')
    given(task, has, observed(closed)).when(request).thenRefused('pull_request_closed')
    given(task, has, observed(merge))
      .when({ ...request, opensNew: true })
      .then([asked])
    given(task, has, observed(closed), observed({ ...said, updatedAt: '2026-01-31T12:00:09Z' }))
      .when(request)
      .then([asked])
  })

  test('a new one is followed from the beginning', () => {
    const next = PullRequestOpened.of({ requestId: 'request-1' }, { number: 8, url, headCommit })
    expect(stateAfter(task, has, observed(merge), asked, next)).toMatchObject({
      pullRequest: { number: 8, observed: null },
    })
  })

  test('a turn does not update a merged one; it says so, and no later turn tries', () => {
    const on = PullRequestAutoUpdateChanged.of({ on: true })
    const runs = [past.waits(2), past.requested(2), past.started(2), past.delivered(2)]
    const end = {
      type: 'EndExecution',
      fence: { executionId: executionId(2), attempt: 1 },
      outcome: { kind: 'completed', exitCode: 0 },
      terminal: null,
      nextExecutionId: executionId(3),
    } as const
    const state = stateAfter(task, changed, on, asked, opened, observed(merge), runs)
    const decision = task.decide(end, state)
    expect(isRefusal(decision) ? decision : decision.map(({ type }) => type)).toEqual([
      'ExecutionCompleted',
      'PullRequestAutoUpdateChanged',
      'MessagePosted',
    ])
  })

  describe('that failed as its owner was no longer connected', () => {
    const retry = { type: 'RetryUpdate', requestId: 'request-2' } as const
    const on = PullRequestAutoUpdateChanged.of({ on: true })
    const failedFor = (code: string) =>
      PullRequestFailed.of({ requestId: 'request-1', code }, { reason: 'It was refused.' })
    const lost = [opened, on, asked, failedFor('github_not_connected')]
    const typesAfter = (...events: readonly TaskEvent[]) => {
      const decision = task.decide(retry, stateAfter(task, changed, events))
      return isRefusal(decision) ? decision : decision.map(({ type }) => type)
    }

    test('is tried once more, and not again before it has failed again', () => {
      expect(typesAfter(...lost)).toEqual(['PullRequestRequested'])
      expect(typesAfter(...lost, asked)).toEqual([])
      const updated = PullRequestUpdated.of({ requestId: 'request-1' }, { number: 7, url, headCommit })
      expect(typesAfter(...lost, asked, updated)).toEqual([])
    })

    test('is not tried where it failed for another reason, where nobody wants updates, or while a turn runs', () => {
      expect(typesAfter(opened, on, asked, failedFor('no_push_access'))).toEqual([])
      expect(typesAfter(opened, asked, failedFor('github_not_connected'))).toEqual([])
      expect(typesAfter(...lost, past.waits(2), past.requested(2))).toEqual([])
    })
  })
})

describe('github gap 10: a draft at the start, where the project wants that', () => {
  const runs = [...past.running, past.prepared, past.changed(2)]
  const end = {
    type: 'EndExecution',
    fence: { executionId: executionId(1), attempt: 1 },
    outcome: { kind: 'completed', exitCode: null },
    terminal: null,
    nextExecutionId: 'request-1',
    opensDraft: true,
  } as const
  const draft = PullRequestRequested.of({ ...asked.data, draft: true, automatic: true }, asked.content)
  const on = PullRequestAutoUpdateChanged.of({ on: true })

  test('is asked for with the end of the first turn that changed something, and kept up to date from then on', () => {
    given(task, runs)
      .when(end)
      .then([past.succeeded(1), on, draft])
    given(task, runs)
      .when({ ...end, opensDraft: false })
      .then([past.succeeded(1)])
  })

  test('is not asked for where nothing changed, nor by a turn that failed or was cancelled', () => {
    given(task, runs, past.changed(0))
      .when(end)
      .then([past.succeeded(1)])
    const state = stateAfter(task, runs)
    const types = (outcome: Parameters<typeof task.decide>[0]) => {
      const decision = task.decide(outcome, state)
      return isRefusal(decision) ? decision : decision.map(({ type }) => type)
    }
    expect(types({ ...end, outcome: { kind: 'cancelled' } })).toEqual(['ExecutionCancelled'])
    const failed = { kind: 'failed', code: 'agent_failed', reason: 'It broke.', exitCode: 1 } as const
    expect(types({ ...end, outcome: failed })).toEqual(['ExecutionFailed'])
  })

  test('is one: there is none beside a pull request, whatever became of it, nor beside a request for one', () => {
    const later = [past.waits(2), past.requested(2), past.started(2), past.delivered(2), past.changed(3)]
    const again = { ...end, fence: { executionId: executionId(2), attempt: 1 } }
    given(task, runs, past.succeeded(1), asked, opened, later)
      .when(again)
      .then([past.succeeded(2)])
    given(task, runs, past.succeeded(1), asked, later)
      .when(again)
      .then([past.succeeded(2)])
  })

  test('is none of several runs of the same task: somebody chooses one first', () =>
    given(task, runs, AlternativeAdded.of({ taskId: taskId(2) }, { title: 'Again' }))
      .when(end)
      .then([past.succeeded(1)]))
})
