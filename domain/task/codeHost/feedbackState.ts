/** Feedback in the state of a task: which feedback was recorded, and how it has been handled. */
import type { RecordedOf } from '../../kernel/event.ts'
import type { TaskEvent } from '../events.ts'
import type { FeedbackKind } from './feedbackEvents.ts'

/** The fields of feedback that decisions need. */
export interface FeedbackItem {
  readonly kind: FeedbackKind
  /** Whether the author has no write access. In a public repository, the author can be anybody. */
  readonly isByOutsider: boolean
  /** The commit to which the feedback refers; `null` once erased. */
  readonly headCommit: string | null
  readonly status: 'open' | 'sent' | 'dismissed'
  /** The id of the message with which the feedback was last sent. It stays when the turn failed, because a retry runs the message again. */
  readonly messageId: string | null
  readonly executionId: string | null
  /** When the project's rule sent the feedback; `null` when the rule did not send it. */
  readonly automaticAt: string | null
  readonly isDone: boolean
  /** Whether a turn that worked on the feedback has changed files. */
  readonly hasChanged: boolean
  readonly answer: 'none' | 'due' | 'failed' | 'settled'
  readonly isResolved: boolean
}

export interface TaskFeedback {
  readonly items: ReadonlyMap<string, FeedbackItem>
  /** The keys, as made by `keysOf`, of all feedback that was recorded. */
  readonly known: ReadonlySet<string>
}

export const noFeedback: TaskFeedback = { items: new Map(), known: new Set() }

type Received = Extract<RecordedOf<TaskEvent>, { type: 'FeedbackReceived' }>
export type FeedbackWords = NonNullable<Received['content']>

/** The keys by which feedback is recognized when it is read again. They are made from the code host's ids. */
export function keysOf({
  reviewId,
  commentId,
  comments,
  check,
}: Pick<FeedbackWords, 'reviewId' | 'commentId' | 'comments' | 'check'>): readonly string[] {
  return [
    ...(reviewId === null ? [] : [`review ${reviewId}`]),
    ...(commentId === null ? [] : [`comment ${commentId}`]),
    ...comments.map(({ id }) => `line ${id}`),
    ...(check === null ? [] : [`check ${check.id}`]),
  ]
}

/** The ids of feedback that a turn has worked on and that has no reply due yet. A publication that begins now contains this work. */
export function doneFeedback({ feedback }: { readonly feedback: TaskFeedback }): readonly string[] {
  return [...feedback.items].flatMap(([id, { isDone, answer }]) => (isDone && answer === 'none' ? [id] : []))
}

/** Whether a turn worked on feedback for which no reply is due yet. The turn's work is then published even when automatic updates are off. */
export function owesAnswer({ feedback }: { readonly feedback: TaskFeedback }, executionId?: string): boolean {
  return [...feedback.items.values()].some(
    (item) =>
      item.answer === 'none' &&
      (item.isDone || (executionId !== undefined && item.executionId === executionId)),
  )
}

type FeedbackEvent = Extract<RecordedOf<TaskEvent>, { type: `Feedback${string}` }>

export function isOfFeedback<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: `Feedback${string}` }> {
  return event.type.startsWith('Feedback')
}

export function withFeedback(before: TaskFeedback, event: FeedbackEvent): TaskFeedback {
  const { feedbackId } = event.data
  switch (event.type) {
    case 'FeedbackReceived': {
      const keys = event.content === null ? [] : keysOf(event.content)
      return {
        items: new Map([...before.items, [feedbackId, openItem(event)]]),
        known: new Set([...before.known, ...keys]),
      }
    }
    case 'FeedbackSent': {
      const { messageId, automatic } = event.data
      const sent = { status: 'sent', messageId, executionId: null } as const
      return changed(before, feedbackId, automatic ? { ...sent, automaticAt: event.at } : sent)
    }
    case 'FeedbackDismissed':
      return changed(before, feedbackId, { status: 'dismissed', messageId: null })
    case 'FeedbackRestored':
      return changed(before, feedbackId, { status: 'open' })
    case 'FeedbackAnswerDue':
      return changed(before, feedbackId, { answer: 'due', executionId: event.data.executionId })
    case 'FeedbackAnswered':
      return changed(before, feedbackId, { answer: 'settled' })
    case 'FeedbackAnswerFailed':
      return changed(before, feedbackId, { answer: 'failed' })
    case 'FeedbackThreadsResolved':
      return changed(before, feedbackId, { isResolved: true })
  }
}

export function isByOutsider({ kind, right }: Pick<Received['data'], 'kind' | 'right'>): boolean {
  return kind !== 'check' && right !== 'admin' && right !== 'write'
}

function openItem({ data, content }: Received): FeedbackItem {
  return {
    kind: data.kind,
    isByOutsider: isByOutsider(data),
    headCommit: content?.headCommit ?? null,
    status: 'open',
    messageId: null,
    executionId: null,
    automaticAt: null,
    isDone: false,
    hasChanged: false,
    answer: 'none',
    isResolved: false,
  }
}

function changed(before: TaskFeedback, feedbackId: string, change: Partial<FeedbackItem>): TaskFeedback {
  const item = before.items.get(feedbackId)
  return item
    ? { ...before, items: new Map([...before.items, [feedbackId, { ...item, ...change }]]) }
    : before
}

/** Changes every piece of feedback for which `isMeant` is true. */
function changedWhere(
  before: TaskFeedback,
  isMeant: (item: FeedbackItem) => boolean,
  change: (item: FeedbackItem) => Partial<FeedbackItem>,
): TaskFeedback {
  if (![...before.items.values()].some(isMeant)) return before
  const items = [...before.items].map(
    ([id, item]) => [id, isMeant(item) ? { ...item, ...change(item) } : item] as const,
  )
  return { ...before, items: new Map(items) }
}

/** Records that a message runs again after its turn failed: the feedback in the message then counts as sent again. */
export function retriedWith(before: TaskFeedback, messageId: string): TaskFeedback {
  return changedWhere(
    before,
    (item) => item.status === 'open' && item.messageId === messageId,
    () => ({ status: 'sent' }),
  )
}

/** Records which execution works on the feedback in a message. */
export function workedOn(before: TaskFeedback, messageId: string, executionId: string): TaskFeedback {
  return changedWhere(
    before,
    (item) => item.messageId === messageId && item.answer === 'none',
    () => ({ executionId, isDone: false }),
  )
}

/** Records that a turn completed the work on its feedback, and whether the turn changed files. */
export function doneBy(before: TaskFeedback, executionId: string, hasChanged: boolean): TaskFeedback {
  return changedWhere(
    before,
    (item) => item.executionId === executionId,
    (item) => ({ isDone: true, hasChanged: item.hasChanged || hasChanged }),
  )
}

/** Records that a turn failed or was cancelled, so that its feedback may be sent again. */
export function failedIn(
  before: TaskFeedback,
  { executionId, messageId }: { readonly executionId: string; readonly messageId: string },
  hasChanged: boolean,
): TaskFeedback {
  return changedWhere(
    before,
    (item) =>
      item.status === 'sent' &&
      !item.isDone &&
      (item.executionId === executionId || item.messageId === messageId),
    (item) => ({
      status: 'open',
      executionId: null,
      hasChanged: item.hasChanged || hasChanged,
    }),
  )
}

/** Records that a message was withdrawn, so that the feedback in it may be sent again. */
export function withdrawnWith(before: TaskFeedback, messageId: string): TaskFeedback {
  return changedWhere(
    before,
    (item) => item.messageId === messageId,
    () => ({ status: 'open', messageId: null, executionId: null }),
  )
}

/** Records that work was published, or that there was nothing to publish. Checks on which a turn worked are then settled, as checks get no reply. */
export function publishedWith(before: TaskFeedback): TaskFeedback {
  return changedWhere(
    before,
    ({ kind, isDone, answer }) => kind === 'check' && isDone && answer === 'none',
    () => ({ answer: 'settled' }),
  )
}
