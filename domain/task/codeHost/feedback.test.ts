/** Feedback on a pull request is recorded once, sent once and answered once; without the permission, it never starts an agent. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../../tests/domain/given.ts'
import {
  automatic,
  check,
  head,
  id,
  published,
  receivedOf,
  review,
  sentOf,
  type Receive,
} from '../../../tests/domain/feedbackHistories.ts'
import { executionId, messageId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import type { CommandOf, ObservedPullRequest } from '../commands.ts'
import { PullRequestRequested, PullRequestUpdated, type TaskEvent } from '../events.ts'
import {
  FeedbackAnswerDue,
  FeedbackAnswered,
  FeedbackAnswerFailed,
  FeedbackDismissed,
  FeedbackRestored,
  FeedbackThreadsResolved,
  PullRequestStandingObserved,
} from './feedbackEvents.ts'
import { feedbackLimits } from './feedbackRule.ts'
import { followUpOf } from './feedbackMessage.ts'
import { isRefusal } from '../../kernel/decider.ts'
import { task } from '../task.ts'

/** The types of what happens. */
function typesOf(command: Receive, ...before: readonly TaskEvent[]): readonly string[] {
  const decision = task.decide(command, stateAfter(task, [...published, ...before]))
  return isRefusal(decision) ? [decision.refused] : decision.map(({ type }) => type)
}
const onlyShown = ['FeedbackReceived']
const started = ['FeedbackReceived', 'FeedbackSent', 'MessageQueued', 'ExecutionRequested']

describe('what is read at the code host', () => {
  test('is recorded as it was, once', () => {
    given(task, published)
      .when(review())
      .then([receivedOf(review())])
    given(task, published, receivedOf(review()))
      .when(review(1, { feedbackId: id(2) }))
      .thenNothing()
  })

  test('of a review that is known already, only what was added to it', () => {
    const { content } = review()
    const [line] = content.comments
    const added = { ...content, comments: [...content.comments, ...(line ? [{ ...line, id: '299' }] : [])] }
    given(task, published, receivedOf(review()))
      .when(review(1, { feedbackId: id(2), content: added }))
      .then([
        receivedOf(
          review(1, {
            feedbackId: id(2),
            content: { ...added, body: '', comments: added.comments.slice(1) },
          }),
        ),
      ])
  })

  test('on another pull request than the task has now is dropped, and so is what comes after the limit', () => {
    const { content } = review()
    given(task, published)
      .when(review(1, { content: { ...content, number: 8 } }))
      .thenNothing()
    const many = Array.from({ length: feedbackLimits.items }, (_, n) => receivedOf(review(n)))
    given(task, published, many).when(review(900)).thenNothing()
  })

  test('by outsiders leaves room for those who may write, and for checks', () => {
    const { data } = review()
    const outside = (n: number, right: 'none' | 'read') => review(n, { data: { ...data, right } })
    const many = Array.from({ length: feedbackLimits.itemsByOutsiders }, (_, n) =>
      receivedOf(outside(n, n % 2 === 0 ? 'none' : 'read')),
    )
    expect(typesOf(outside(900, 'read'), ...many.slice(1))).toEqual(onlyShown)
    expect(typesOf(outside(900, 'read'), ...many)).toEqual([])
    expect(typesOf(outside(900, 'none'), ...many)).toEqual([])
    expect(typesOf(review(900), ...many)).toEqual(onlyShown)
    expect(typesOf({ ...check(900), automatic: null }, ...many)).toEqual(onlyShown)
  })
})

describe('the rule of the project', () => {
  test('sends what somebody wrote who may write and is known here, with who asked and by what right', () => {
    const command = review(1, { automatic })
    given(task, published)
      .when(command)
      .then([
        receivedOf(command),
        sentOf(1, true),
        past.waits(2, 'turn', 'claude', followUpOf({ ...command.data, ...command.content })),
        past.requested(2),
      ])
  })

  test('starts nothing for others, for approvals, on forks, and on what is over', () => {
    const { data } = review()
    expect(typesOf(review(1, { automatic }))).toEqual(started)
    for (const other of [
      { ...data, right: 'read' as const },
      { ...data, right: 'none' as const },
      { ...data, isKnown: false },
      { ...data, verdict: 'approved' as const },
    ])
      expect(typesOf(review(1, { automatic, data: other }))).toEqual(onlyShown)
    expect(typesOf(review(1, { automatic: { ...automatic, isSameRepository: false } }))).toEqual(onlyShown)
    expect(typesOf(review(1, { automatic: null }))).toEqual(onlyShown)
  })

  test('ends after so many automatic turns within an hour, whoever answers whom', () => {
    const before = Array.from({ length: feedbackLimits.automaticAnHour }, (_, n) => [
      receivedOf(review(n)),
      sentOf(n, true),
    ]).flat()
    expect(typesOf(review(99, { automatic }), ...before.slice(2))).toContain('FeedbackSent')
    expect(typesOf(review(99, { automatic }), ...before)).toEqual(onlyShown)
    const later = { ...automatic, now: '2027-01-01T00:00:00.000Z' }
    expect(typesOf(review(99, { automatic: later }), ...before)).toContain('FeedbackSent')
  })

  test('tries to fix the checks of the head commit so often for each commit and day', () => {
    expect(typesOf(check(1))).toEqual(started)
    expect(typesOf(check(1, 'd'.repeat(40)))).toEqual(onlyShown)
    const tried = (n: number, commit = head) => [receivedOf(check(n, commit)), sentOf(n, true)]
    expect(typesOf(check(2), ...tried(1))).toEqual(onlyShown)
    const other = [1, 2, 3].flatMap((n) => tried(n, 'd'.repeat(40)))
    expect(typesOf(check(4), ...other.slice(2))).toEqual(started)
    expect(typesOf(check(4), ...other)).toEqual(onlyShown)
  })
})

describe('a person', () => {
  const known = [...published, receivedOf(review())]
  const send: CommandOf<'SendFeedback'> = {
    type: 'SendFeedback',
    feedbackId: id(1),
    messageId: messageId(2),
    executionId: executionId(2),
    message: 'message 2',
    content: review().content,
    right: 'write',
  }

  test('sends it, once', () => {
    given(task, known)
      .when(send)
      .then([sentOf(1), past.waits(2), past.requested(2)])
    given(task, known, sentOf(1)).when(send).thenRefused('already_exists')
    given(task, known)
      .when({ ...send, feedbackId: id(2) })
      .thenRefused('not_found')
  })

  test('dismisses it, and takes that back', () => {
    const [dismissed, restored] = [
      FeedbackDismissed.of({ feedbackId: id(1) }),
      FeedbackRestored.of({ feedbackId: id(1) }),
    ]
    given(task, known)
      .when({ type: 'DismissFeedback', feedbackId: id(1) })
      .then([dismissed])
    given(task, known, dismissed)
      .when({ type: 'DismissFeedback', feedbackId: id(1) })
      .thenNothing()
    given(task, known, dismissed)
      .when({ type: 'RestoreFeedback', feedbackId: id(1) })
      .then([restored])
    given(task, known, sentOf(1))
      .when({ type: 'DismissFeedback', feedbackId: id(1) })
      .thenRefused('already_exists')
  })
})

describe('once the turn has done it', () => {
  const working = [
    ...published,
    receivedOf(review()),
    sentOf(1),
    past.waits(2),
    past.requested(2),
    past.started(2),
    past.delivered(2),
  ]
  const ends: CommandOf<'EndExecution'> = {
    type: 'EndExecution',
    fence: { executionId: executionId(2), attempt: 1 },
    outcome: { kind: 'completed', exitCode: 0 },
    terminal: null,
    nextExecutionId: executionId(3),
  }
  const updating = PullRequestRequested.of(
    { requestId: executionId(3), draft: false, automatic: true, rewrites: false },
    { title: past.title, body: past.description, tree: past.changedTree },
  )
  const settle = (headCommit: string): CommandOf<'SettlePullRequest'> => ({
    type: 'SettlePullRequest',
    requestId: executionId(3),
    outcome: { kind: 'updated', number: 7, url: 'https://code.example/pull/7', headCommit, messageId: null },
    nextRequestId: 'next',
  })
  const updated = (headCommit: string) =>
    PullRequestUpdated.of(
      { requestId: executionId(3) },
      { number: 7, url: 'https://code.example/pull/7', headCommit },
    )
  const due = (commit: string | null) =>
    FeedbackAnswerDue.of({ feedbackId: id(1), executionId: executionId(2) }, { commit })
  const done = [...working, past.succeeded(2), updating]

  test('the pull request is updated, also where automatic updates are off', () => {
    given(task, working)
      .when(ends)
      .then([past.succeeded(2, 0), updating])
  })

  test('its author is to be answered with the commit, or without one where nothing changed', () => {
    const commit = 'e'.repeat(40)
    given(task, working, past.changed(2, 'f'.repeat(40)), past.succeeded(2), updating)
      .when(settle(commit))
      .then([updated(commit), due(commit)])
    given(task, done)
      .when(settle(head))
      .then([updated(head), due(null)])
  })

  test('a turn that failed leaves nobody answered, and its retry does', () => {
    const failed = [...working, past.broke(2)]
    const again = [...failed, past.requested(3, 'retry', { message: 2 }), past.started(3, 1, 2)]
    expect(stateAfter(task, failed)).toMatchObject({ updateOwed: false })
    const decision = task.decide(
      { ...ends, fence: { executionId: executionId(3), attempt: 1 }, nextExecutionId: executionId(4) },
      stateAfter(task, again),
    )
    expect(isRefusal(decision) ? [] : decision.map(({ type }) => type)).toContain('PullRequestRequested')
  })

  test('the answer is noted once, and what is resolved is', () => {
    const settled = [...done, updated(head), due(null)]
    const answered = FeedbackAnswered.of({ feedbackId: id(1) }, { replyIds: ['5'] })
    const settling = { type: 'SettleFeedback', feedbackId: id(1) } as const
    const outcome = { kind: 'answered', replyIds: ['5'] } as const
    given(task, settled)
      .when({ ...settling, outcome })
      .then([answered])
    given(task, settled, answered)
      .when({ ...settling, outcome })
      .thenNothing()
    const again = { type: 'AnswerFeedback', feedbackId: id(1), commit: null } as const
    given(task, settled, answered).when(again).thenRefused('already_exists')
    const resolved = { kind: 'resolved', automatic: false } as const
    const event = FeedbackThreadsResolved.of({ feedbackId: id(1), automatic: false })
    given(task, settled)
      .when({ ...settling, outcome: resolved })
      .then([event])
    given(task, settled, event)
      .when({ ...settling, outcome: resolved })
      .thenNothing()
  })

  test('an answer that was not taken is due again when somebody asks for it, once', () => {
    const commit = 'e'.repeat(40)
    const failed = FeedbackAnswerFailed.of(
      { feedbackId: id(1), code: 'code_host_refused' },
      { reason: 'You may not write here.' },
    )
    const again = { type: 'AnswerFeedback', feedbackId: id(1), commit } as const
    const tried = [...done, updated(commit), due(commit)]
    given(task, done).when(again).thenRefused('not_found')
    given(task, tried).when(again).thenNothing()
    given(task, tried, failed)
      .when(again)
      .then([due(commit)])
    given(task, tried, failed, due(commit)).when(again).thenNothing()
    given(task, tried, failed)
      .when({ ...again, feedbackId: id(2) })
      .thenRefused('not_found')
  })
})

describe('what reviews and checks say', () => {
  const observed = (standing?: ObservedPullRequest['standing']): CommandOf<'ObservePullRequest'> => ({
    type: 'ObservePullRequest',
    observed: {
      number: 7,
      nodeId: 'PR_7',
      repositoryId: '7',
      state: 'open',
      draft: false,
      headCommit: head,
      updatedAt: '2026-01-31T00:00:00Z',
      mergedAt: null,
      mergedBy: null,
      ...(standing ? { standing } : {}),
    },
  })
  const failing = {
    review: 'required',
    checks: { state: 'failing', passing: 1, failing: 2, pending: 0 },
    checksReadable: true,
  } as const
  const standing = PullRequestStandingObserved.of(failing, { number: 7, headCommit: head })

  test('is recorded when it is new, also when nothing else is', () => {
    const first = task.decide(observed(), stateAfter(task, published))
    const before = isRefusal(first) ? [] : first
    given(task, published, before).when(observed(failing)).then([standing])
    given(task, published, before, standing).when(observed(failing)).thenNothing()
    given(task, published, before)
      .when(observed({ review: null, checks: null, checksReadable: true }))
      .thenNothing()
  })
})
