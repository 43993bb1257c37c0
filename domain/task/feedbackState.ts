/** Feedback on a task's pull request in the state of the task: what is known already, and how far each piece has come. */
import type { RecordedOf } from '../kernel/event.ts'
import type { TaskEvent } from './events.ts'
import type { FeedbackKind } from './feedbackEvents.ts'

/** What became of a piece of feedback, as far as decisions need it. */
export interface FeedbackItem {
  readonly kind: FeedbackKind
  /** The commit that it is about; `null` once that is erased. */
  readonly headCommit: string | null
  readonly status: 'open' | 'sent' | 'dismissed'
  readonly messageId: string | null
  /** The execution that works or worked on it last. */
  readonly executionId: string | null
  readonly isAutomatic: boolean
  readonly sentAt: string | null
  /** The turn has ended well. */
  readonly isDone: boolean
  readonly answer: 'none' | 'due' | 'settled'
  readonly isResolved: boolean
}

export interface TaskFeedback {
  readonly items: ReadonlyMap<string, FeedbackItem>
  /** What was read at the code host, by its ids. */
  readonly known: ReadonlySet<string>
}

export const noFeedback: TaskFeedback = { items: new Map(), known: new Set() }

type Received = Extract<RecordedOf<TaskEvent>, { type: 'FeedbackReceived' }>
export type FeedbackWords = NonNullable<Received['content']>

/** What makes a piece of feedback the same as one that is known: its ids at the code host. */
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

/** Whether a turn worked on feedback that nobody was answered for: its work is published also where automatic updates are off. */
export function owesAnswer({ feedback }: { readonly feedback: TaskFeedback }, executionId?: string): boolean {
  return [...feedback.items.values()].some(
    (item) =>
      item.answer === 'none' &&
      (item.isDone || (executionId !== undefined && item.executionId === executionId)),
  )
}

type FeedbackEvent = Extract<RecordedOf<TaskEvent>, { type: `Feedback${string}` }>

/** Whether an event is about a piece of feedback. */
export function isOfFeedback<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: `Feedback${string}` }> {
  return event.type.startsWith('Feedback')
}

/** The feedback after an event of its own. */
export function withFeedback(before: TaskFeedback, event: FeedbackEvent): TaskFeedback {
  const { feedbackId } = event.data
  switch (event.type) {
    case 'FeedbackReceived': {
      const { kind } = event.data
      const keys = event.content === null ? [] : keysOf(event.content)
      return {
        items: new Map([...before.items, [feedbackId, openItem(kind, event.content?.headCommit ?? null)]]),
        known: new Set([...before.known, ...keys]),
      }
    }
    case 'FeedbackSent': {
      const { messageId, automatic: isAutomatic } = event.data
      return changed(before, feedbackId, { status: 'sent', messageId, isAutomatic, sentAt: event.at })
    }
    case 'FeedbackDismissed':
      return changed(before, feedbackId, { status: 'dismissed' })
    case 'FeedbackRestored':
      return changed(before, feedbackId, { status: 'open' })
    case 'FeedbackAnswerDue':
      return changed(before, feedbackId, { answer: 'due' })
    case 'FeedbackAnswered':
    case 'FeedbackAnswerFailed':
      return changed(before, feedbackId, { answer: 'settled' })
    case 'FeedbackThreadsResolved':
      return changed(before, feedbackId, { isResolved: true })
  }
}

function openItem(kind: FeedbackKind, headCommit: string | null): FeedbackItem {
  return {
    kind,
    headCommit,
    status: 'open',
    messageId: null,
    executionId: null,
    isAutomatic: false,
    sentAt: null,
    isDone: false,
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

/** Notes which execution works on the feedback that this message was made of. */
export function workedOn(before: TaskFeedback, messageId: string, executionId: string): TaskFeedback {
  const found = [...before.items].find(([, item]) => item.messageId === messageId)
  return found && found[1].answer === 'none'
    ? changed(before, found[0], { executionId, isDone: false })
    : before
}

/** Notes that a turn has done what the feedback that it worked on asked for. */
export function doneBy(before: TaskFeedback, executionId: string): TaskFeedback {
  const found = [...before.items].filter(([, item]) => item.executionId === executionId)
  return found.reduce((feedback, [id]) => changed(feedback, id, { isDone: true }), before)
}
