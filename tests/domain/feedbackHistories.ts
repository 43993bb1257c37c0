/** Histories of feedback on a pull request, as a starting point for tests. */
import type { CommandOf } from '#domain/task/commands.ts'
import { PullRequestOpened, PullRequestRequested, type TaskEvent } from '#domain/task/events.ts'
import { FeedbackReceived, FeedbackSent } from '#domain/task/codeHost/feedbackEvents.ts'
import { messageId, executionId } from './ids.ts'
import { moment } from './recorded.ts'
import * as past from './taskHistories.ts'

export const head = 'c'.repeat(40)
const asked = PullRequestRequested.of(
  { requestId: 'r', draft: false, automatic: false, rewrites: false },
  { title: 't', body: '', tree: null },
)
const opened = PullRequestOpened.of(
  { requestId: 'r' },
  { number: 7, url: 'https://code.example/pull/7', headCommit: head },
)
/** The history of a task with pull request 7 whose only turn has succeeded. */
export const published: readonly TaskEvent[] = [
  ...past.running,
  past.prepared,
  past.changed(1),
  past.succeeded(1),
  asked,
  opened,
]

/** The id of feedback `n`. */
export const id = (n: number) => `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`
export type Receive = CommandOf<'ReceiveFeedback'>

/** What the project's rule adds: message and execution 2, ten minutes after the events so far. */
export const automatic: NonNullable<Receive['automatic']> = {
  messageId: messageId(2),
  executionId: executionId(2),
  now: new Date(Date.parse(moment) + 600_000).toISOString(),
  isSameRepository: true,
  triesPerCommit: 1,
  triesPerDay: 3,
}

/** Review number `n` by somebody who may write, with one comment. */
export function review(n = 1, change: Partial<Receive> = {}): Receive {
  const line = {
    id: `20${n}`,
    threadId: `20${n}`,
    path: 'a.ts',
    line: 3,
    startLine: null,
    isOutdated: false,
    hunk: '+x',
    body: 'rename',
  }
  return {
    type: 'ReceiveFeedback',
    feedbackId: id(n),
    data: {
      kind: 'review',
      right: 'write',
      isKnown: true,
      verdict: 'commented',
    },
    content: {
      number: 7,
      writtenAt: '2026-01-31T00:00:00Z',
      author: { id: '9', login: 'grace' },
      url: null,
      headCommit: head,
      reviewId: `10${n}`,
      commentId: null,
      body: 'Please.',
      comments: [line],
      check: null,
    },
    automatic: null,
    ...change,
  }
}

/** Failed check number `n`, which the project's rule sends as message `10 + n`. */
export function check(n: number, headCommit = head): Receive {
  const { data, content } = review(n)
  return review(n, {
    data: { ...data, kind: 'check', right: null, isKnown: false, verdict: null },
    content: {
      ...content,
      author: null,
      reviewId: null,
      body: '',
      comments: [],
      headCommit,
      check: {
        id: `30${n}`,
        name: 'test',
        conclusion: 'failure',
        summary: '',
        annotations: [],
        log: 'no',
        isLogCut: false,
      },
    },
    automatic: { ...automatic, messageId: messageId(10 + n) },
  })
}

/** The event that records the feedback of the command. */
export const receivedOf = ({ feedbackId, data, content }: Receive) =>
  FeedbackReceived.of({ feedbackId, ...data }, content)
/** The event that feedback `n` was sent, as message 2 unless another is named. */
export const sentOf = (n: number, isAutomatic = false, message = 2) =>
  FeedbackSent.of(
    { feedbackId: id(n), messageId: messageId(message), automatic: isAutomatic, right: 'write' },
    {
      author: { id: '9', login: 'grace' },
      hostIds: [`review 10${n}`, `line 20${n}`],
      text: 'Please.\n\nrename',
    },
  )
