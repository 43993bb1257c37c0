import { expect, test } from 'vitest'
import { historyOf } from '../../tests/domain/given.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { executionId, messageId } from '../../tests/domain/ids.ts'
import { FeedbackSent } from '../task/codeHost/feedbackEvents.ts'
import { IssueCommented, IssueCommentUpdated, TaskCreatedFromIssue } from '../task/codeHost/issueState.ts'
import { PullRequestOpened, ToolStarted, type TaskEvent } from '../task/events.ts'
import { taskCommentsView } from './taskComments.ts'
import { foldView } from '../../tests/domain/fold.ts'

const origin = TaskCreatedFromIssue.of(
  { trigger: 'label', right: 'write' },
  {
    repositoryId: '7',
    issueId: '70',
    number: 12,
    url: 'https://code.example/ada/engine/issues/12',
    title: 'It is broken',
    author: { id: '9', login: 'grace' },
    commentId: null,
    textHash: 'a'.repeat(64),
  },
)
const told = IssueCommented.of({}, { commentId: '5' })
const commentAfter = (...events: readonly TaskEvent[]) =>
  [...foldView(taskCommentsView, new Map(), historyOf(...events)).values()][0]?.comment

test('a comment that tells how far its task is has to be written anew once the task goes on', () => {
  const updated = IssueCommentUpdated.of({ shows: 0 })
  expect(commentAfter(origin)).toBe('due')
  expect(commentAfter(origin, told, updated)).toBe('written')
  expect(commentAfter(origin, told, updated, past.started(1))).toBe('stale')
  expect(commentAfter(origin, told, updated, past.started(1), IssueCommentUpdated.of({ shows: 3 }))).toBe(
    'written',
  )
})

test('a change that happened while the comment was written is not lost', () => {
  expect(commentAfter(origin, past.started(1), told, IssueCommentUpdated.of({ shows: 0 }))).toBe('stale')
})

test('a comment of an earlier version, which only led to its task, stays as it is', () => {
  expect(commentAfter(origin, told, past.started(1))).toBe('written')
})

const opened = (number: number) =>
  PullRequestOpened.of(
    { requestId: 'r' },
    { number, url: 'https://code.example/pull/7', headCommit: 'c'.repeat(40) },
  )
const sent = FeedbackSent.of(
  { feedbackId: 'review-5', messageId: messageId(2), automatic: false, right: 'write' },
  { author: null, hostIds: [], text: 'Please mend it.' },
)
const linkAfter = (...events: readonly TaskEvent[]) =>
  [...foldView(taskCommentsView, new Map(), historyOf(...events)).values()][0]
const turn = (n: number) => [past.requested(n), past.started(n)]

test('github gap 9: the pull request of a task is told once an agent works on what somebody wrote there', () => {
  expect(commentAfter(past.created, opened(7))).toBe('none')
  expect(commentAfter(past.created, opened(7), ...turn(2))).toBe('none')
  expect(commentAfter(past.created, opened(7), sent)).toBe('none')
  expect(linkAfter(past.created, opened(7), sent, ...turn(2))).toMatchObject({ comment: 'due', number: 7 })
  // What was over before anybody was told of it needs no telling: the answer does.
  expect(commentAfter(past.created, opened(7), sent, ...turn(2), past.succeeded(2))).toBe('none')
  const kept = [past.created, opened(7), sent, ...turn(2), told, IssueCommentUpdated.of({ shows: 5 })]
  expect(commentAfter(...kept)).toBe('written')
  expect(commentAfter(...kept, past.succeeded(2))).toBe('stale')
  expect(linkAfter(...kept, opened(8))).toMatchObject({ comment: 'none', number: 8, commentId: null })
})

test('github gap 9: the comment of an issue goes on with its pull request', () => {
  const kept = [origin, told, IssueCommentUpdated.of({ shows: 0 })]
  expect(linkAfter(...kept, opened(7))).toMatchObject({ comment: 'stale', number: 12, commentId: '5' })
})

test('github gap 9: the to-do list of the agent is told of, without what was done in earlier turns', () => {
  const wrote = (...todos: readonly (readonly [string, string])[]) =>
    ToolStarted.of(
      { executionId: executionId(1), toolId: 't', kind: 'todo', parentToolId: null },
      {
        name: 'TodoWrite',
        target: '',
        input: JSON.stringify({ todos: todos.map(([content, status]) => ({ content, status })) }),
      },
    )
  const kept = [origin, past.started(1), told, IssueCommentUpdated.of({ shows: 1 })]
  const list = wrote(['Read', 'completed'], ['Fix', 'in_progress'])
  expect(linkAfter(...kept, list)).toMatchObject({
    comment: 'stale',
    todos: [
      { text: 'Read', state: 'done' },
      { text: 'Fix', state: 'doing' },
    ],
  })
  expect(linkAfter(...kept, list, past.succeeded(1), past.started(2))?.todos).toEqual([
    { text: 'Read', state: 'gone' },
    { text: 'Fix', state: 'doing' },
  ])
})
