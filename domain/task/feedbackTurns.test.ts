/** Turns that work on feedback: what is published and answered after them, and what happens to the feedback when they fail. */
import { describe, expect, test } from 'vitest'
import {
  automatic,
  check,
  head,
  id,
  published,
  receivedOf,
  review,
  sentOf,
} from '../../tests/domain/feedbackHistories.ts'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { executionId, messageId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { isRefusal } from '../kernel/decider.ts'
import type { CommandOf, TaskCommand } from './commands.ts'
import {
  MessageWithdrawn,
  PullRequestAutoUpdateChanged,
  PullRequestFailed,
  PullRequestObserved,
  PullRequestRequested,
  PullRequestUpdated,
  type TaskEvent,
} from './events.ts'
import { FeedbackAnswerDue, FeedbackDismissed } from './codeHost/feedbackEvents.ts'
import { feedbackLimits } from './codeHost/feedbackRule.ts'
import { task } from './task.ts'

type Past = readonly TaskEvent[]

const commit = 'e'.repeat(40)
const url = 'https://code.example/pull/7'
/** Turn `n` is at work. */
const works = (n: number): Past => [past.waits(n), past.requested(n), past.started(n), past.delivered(n)]
const ends = (n: number): CommandOf<'EndExecution'> => ({
  type: 'EndExecution',
  fence: { executionId: executionId(n), attempt: 1 },
  outcome: { kind: 'completed', exitCode: 0 },
  terminal: null,
  nextExecutionId: executionId(n + 1),
})
/** A turn publishes by itself, with the id of the next execution. */
const publishing = (n: number) =>
  PullRequestRequested.of(
    { requestId: executionId(n + 1), draft: false, automatic: true, rewrites: false },
    { title: past.title, body: past.description, tree: past.changedTree },
  )
const updated = (n: number, headCommit = commit) =>
  PullRequestUpdated.of({ requestId: executionId(n + 1) }, { number: 7, url, headCommit })
const settles = (n: number): CommandOf<'SettlePullRequest'> => ({
  type: 'SettlePullRequest',
  requestId: executionId(n + 1),
  outcome: { kind: 'updated', number: 7, url, headCommit: commit, messageId: null },
  nextRequestId: 'next',
})
const merged = PullRequestObserved.of(
  { state: 'merged', draft: false, updatedAt: '2026-02-01T00:00:00Z', mergedAt: '2026-02-01T00:00:00Z' },
  { number: 7, nodeId: 'PR_7', repositoryId: '7', headCommit: head, mergedBy: 'grace' },
)

describe('a check that was fixed', () => {
  const fixed = [...published, receivedOf(check(1)), sentOf(1), ...works(2), past.succeeded(2)]

  test('is published once: a later turn publishes nothing where automatic updates are off', () => {
    given(task, [...published, receivedOf(check(1)), sentOf(1), ...works(2)])
      .when(ends(2))
      .then([past.succeeded(2, 0), publishing(2)])
    given(task, fixed, publishing(2), updated(2), works(4))
      .when(ends(4))
      .then([past.succeeded(4, 0)])
  })

  test('owes nothing where there was nothing to publish', () => {
    const failed = PullRequestFailed.of({ requestId: executionId(3), code: 'no_changes' }, { reason: 'No.' })
    given(task, fixed, publishing(2), failed, works(4))
      .when(ends(4))
      .then([past.succeeded(4, 0)])
  })

  test('is published by the next turn where that failed', () => {
    const failed = PullRequestFailed.of(
      { requestId: executionId(3), code: 'code_host_refused' },
      { reason: 'No.' },
    )
    given(task, fixed, publishing(2), failed, works(4))
      .when(ends(4))
      .then([past.succeeded(4, 0), publishing(4)])
  })
})

test.each([
  ['a check', receivedOf(check(1))],
  ['a review', receivedOf(review(1))],
])('%s whose work was not published before the merge is said nothing of after it', (_, received) => {
  const before = [...published, received, sentOf(1), ...works(2), merged]
  given(task, before)
    .when(ends(2))
    .then([past.succeeded(2, 0)])
  const on = PullRequestAutoUpdateChanged.of({ on: true })
  const decision = task.decide(ends(2), stateAfter(task, before, on))
  expect(isRefusal(decision) ? [] : decision.map(({ type }) => type)).toEqual([
    'ExecutionCompleted',
    'PullRequestAutoUpdateChanged',
    'MessagePosted',
  ])
})

describe('feedback whose turn came to nothing', () => {
  const sent = [...published, receivedOf(review(1)), sentOf(1, true)]
  const again: CommandOf<'SendFeedback'> = {
    type: 'SendFeedback',
    feedbackId: id(1),
    messageId: messageId(5),
    executionId: executionId(5),
    message: 'message 5',
    content: review(1).content,
    right: 'write',
  }
  const dismiss = { type: 'DismissFeedback', feedbackId: id(1) } as const
  const typesOf = (command: TaskCommand, ...before: Past) => {
    const decision = task.decide(command, stateAfter(task, before))
    return isRefusal(decision) ? [decision.refused] : decision.map(({ type }) => type)
  }
  const steered = [...sent.slice(0, -1), ...works(3), sentOf(1), past.waits(2), past.delivered(2, 3)]
  const cases: readonly (readonly [string, Past])[] = [
    ['withdrawn', [...published, ...works(3), receivedOf(review(1)), sentOf(1), past.waits(2)]],
    ['cancelled before it started', [...sent, past.waits(2), past.requested(2), past.stopped(2)]],
    ['cancelled at work', [...sent, ...works(2), past.stopped(2)]],
    ['failed', [...sent, ...works(2), past.broke(2)]],
    ['cancelled with the turn that it was given to', [...steered, past.stopped(3)]],
    ['failed with the turn that it was given to', [...steered, past.broke(3)]],
  ]

  test.each(cases)('%s can be sent again, or dismissed', (how, before) => {
    const withdrawn = how === 'withdrawn' ? [MessageWithdrawn.of({ messageId: messageId(2) })] : []
    const all = [...before, ...withdrawn]
    expect(typesOf(again, ...all).slice(0, 2)).toEqual(['FeedbackSent', 'MessageQueued'])
    expect(typesOf(dismiss, ...all)).toEqual(['FeedbackDismissed'])
  })

  test('is with the agent while the turn is retried, and is answered after that', () => {
    const retried = [...sent, ...works(2), past.stopped(2), past.requested(3, 'retry', { message: 2 })]
    for (const before of [retried, [...retried, past.started(3, 1, 2)]])
      expect(typesOf(again, ...before)).toEqual(['already_exists'])
    expect(typesOf(ends(3), ...retried, past.started(3, 1, 2))).toContain('PullRequestRequested')
  })

  test('stays dismissed when the turn is retried', () => {
    const retried = [
      ...sent,
      ...works(2),
      past.broke(2),
      FeedbackDismissed.of({ feedbackId: id(1) }),
      past.requested(3, 'retry', { message: 2 }),
      past.started(3, 1, 2),
    ]
    expect(typesOf({ type: 'RestoreFeedback', feedbackId: id(1) }, ...retried)).toEqual(['FeedbackRestored'])
    expect(typesOf(ends(3), ...retried)).toEqual(['ExecutionCompleted'])
  })

  test('counts for the limits all the same, also once a person has sent it again', () => {
    const tried = Array.from({ length: feedbackLimits.automaticAnHour }, (_, n) => [
      receivedOf(review(n)),
      sentOf(n, true),
    ]).flat()
    const stopped = [past.waits(2), past.requested(2), past.stopped(2)]
    const command = review(99, { automatic: { ...automatic, messageId: messageId(9) } })
    const before = [...published, ...tried, ...stopped]
    expect(typesOf(command, ...before)).toEqual(['FeedbackReceived'])
    expect(typesOf(command, ...before, sentOf(1))).toEqual(['FeedbackReceived'])
  })

  test('that is answered stays so when its turn is retried and stopped', () => {
    const done = [...sent, ...works(2), past.succeeded(2), publishing(2), updated(2)]
    const due = FeedbackAnswerDue.of({ feedbackId: id(1), executionId: executionId(2) }, { commit })
    const stopped = [past.requested(4, 'retry', { message: 2 }), past.started(4, 1, 2), past.stopped(4, 2)]
    expect(typesOf(again, ...done, due, ...stopped)).toEqual(['already_exists'])
  })
})

describe('the commit of an answer', () => {
  const due = (n: number, execution: number, of: string | null) =>
    FeedbackAnswerDue.of({ feedbackId: id(n), executionId: executionId(execution) }, { commit: of })
  const other = past.changed(2, 'f'.repeat(40))

  test('is given only to those whose own turn changed files', () => {
    const both = [
      ...published,
      receivedOf(review(1)),
      receivedOf(review(2)),
      sentOf(1),
      ...works(2),
      other,
      past.succeeded(2),
      sentOf(2, false, 4),
      ...works(4),
      other,
      past.succeeded(4),
    ]
    given(task, both, publishing(4))
      .when(settles(4))
      .then([updated(4), due(1, 2, commit), due(2, 4, null)])
  })

  test('is not that of a publication that had begun before the turn ended: the next one answers', () => {
    const meanwhile = [
      ...published,
      receivedOf(review(1)),
      receivedOf(review(2)),
      sentOf(1),
      ...works(2),
      other,
      past.succeeded(2),
      publishing(2),
      sentOf(2, false, 4),
      ...works(4),
      past.changed(4, 'b'.repeat(40)),
      past.succeeded(4),
    ]
    const next = PullRequestRequested.of(
      { requestId: 'next', draft: false, automatic: true, rewrites: false },
      { title: past.title, body: past.description, tree: 'b'.repeat(40) },
    )
    given(task, meanwhile)
      .when({ ...settles(2), covers: [id(1)] })
      .then([updated(2), due(1, 2, commit), next])
    const later = { ...settles(2), requestId: 'next', covers: [id(2)] }
    given(task, meanwhile, updated(2), due(1, 2, commit), next)
      .when({
        ...later,
        outcome: { kind: 'updated', number: 7, url, headCommit: 'a'.repeat(40), messageId: null },
      })
      .then([
        PullRequestUpdated.of({ requestId: 'next' }, { number: 7, url, headCommit: 'a'.repeat(40) }),
        due(2, 4, 'a'.repeat(40)),
      ])
  })

  test('counts what a turn changed before it failed, when its retry changed nothing more', () => {
    const retried = [
      ...published,
      receivedOf(review(1)),
      sentOf(1),
      ...works(2),
      other,
      past.broke(2),
      past.requested(3, 'retry', { message: 2 }),
      past.started(3, 1, 2),
      past.succeeded(3, null, 2),
    ]
    given(task, retried, publishing(3))
      .when(settles(3))
      .then([updated(3), due(1, 3, commit)])
  })
})
