/** Feedback on tasks' pull requests: one document per review, comment or failed check. */
import type { ShownFeedback } from '../api/feedback.schema.ts'
import { sortKey, type RecordedOf } from '../kernel/event.ts'
import type { TaskEvent } from '../task/events.ts'
import { goneWithTask, parseTask } from './chat.ts'
import type { View } from './view.ts'

export interface FeedbackDocument extends Omit<ShownFeedback, 'id' | 'isStale' | 'canBeSent'> {
  /** The id of the task and the id of the feedback, which is unique only within the task. */
  readonly id: string
  readonly feedbackId: string
  readonly task: string
  /** The id of the turn whose last message becomes the reply; `null` until the reply is due. */
  readonly executionId: string | null
  /** When the reply was written; missing before, and in documents that were folded before this field existed. */
  readonly answeredAt?: string
  readonly order: string
}

const types = [
  'FeedbackReceived',
  'FeedbackSent',
  'FeedbackDismissed',
  'FeedbackRestored',
  'FeedbackAnswerDue',
  'FeedbackAnswered',
  'FeedbackAnswerFailed',
  'FeedbackThreadsResolved',
  'TaskDeleted',
] as const

type Event = Extract<RecordedOf<TaskEvent>, { type: `Feedback${string}` }>

export const feedbackView: View<FeedbackDocument> = {
  collection: 'feedback',
  version: 1,
  streams: ['task'],
  types,
  indexes: [
    ['task', 'order'],
    ['answer', 'order'],
  ],
  touches: (event) =>
    isOfFeedback(event) ? [feedbackDocumentId(parseTask(event.stream), event.data.feedbackId)] : [],
  goneWith: goneWithTask,
  evolve: (document, event, id) => {
    if (!isOfFeedback(event)) return document
    if (event.type === 'FeedbackReceived') return document ?? received(event, id)
    return document && { ...document, ...changeBy(event), version: event.revision }
  },
}

export function feedbackDocumentId(taskId: string, feedbackId: string): string {
  return `${taskId}:${feedbackId}`
}

function isOfFeedback(event: { readonly type: string }): event is Event {
  return event.type.startsWith('Feedback')
}

function received(event: Extract<Event, { type: 'FeedbackReceived' }>, id: string): FeedbackDocument {
  const { data, content, at, position, revision } = event
  return {
    id,
    ...data,
    task: parseTask(event.stream),
    // If the content was erased, only the time of the event is known.
    writtenAt: content?.writtenAt ?? at,
    receivedAt: at,
    number: content?.number ?? null,
    author: content?.author ?? null,
    url: content?.url ?? null,
    headCommit: content?.headCommit ?? null,
    reviewId: content?.reviewId ?? null,
    commentId: content?.commentId ?? null,
    body: content?.body ?? null,
    comments: content?.comments ?? [],
    check: content?.check ?? null,
    status: 'open',
    messageId: null,
    isAutomatic: false,
    answer: 'none',
    answerRefused: null,
    commit: null,
    isResolved: false,
    executionId: null,
    order: sortKey(position),
    position,
    version: revision,
  }
}

function changeBy(event: Exclude<Event, { type: 'FeedbackReceived' }>): Partial<FeedbackDocument> {
  switch (event.type) {
    case 'FeedbackSent':
      return { status: 'sent', messageId: event.data.messageId, isAutomatic: event.data.automatic }
    case 'FeedbackDismissed':
      return { status: 'dismissed', messageId: null }
    case 'FeedbackRestored':
      return { status: 'open' }
    case 'FeedbackAnswerDue':
      return {
        answer: 'due',
        answerRefused: null,
        executionId: event.data.executionId,
        commit: event.content?.commit ?? null,
      }
    case 'FeedbackAnswered':
      return { answer: 'answered', answeredAt: event.at }
    case 'FeedbackAnswerFailed':
      return { answer: 'failed', answerRefused: event.content?.reason ?? '' }
    case 'FeedbackThreadsResolved':
      return { isResolved: true }
  }
}
