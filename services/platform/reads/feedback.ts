/** Feedback in the form of the API, and the message with which it would be sent to the agent. */
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import { followUpOf } from '#domain/task/codeHost/feedbackMessage.ts'
import type { TaskState } from '#domain/task/state.ts'
import type { FeedbackDocument } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'

/** The content as read at the code host; `null` when it was erased. */
export function contentOf({
  number,
  writtenAt,
  headCommit,
  body,
  author,
  url,
  reviewId,
  commentId,
  comments,
  check,
}: FeedbackDocument) {
  if (number === null || headCommit === null || body === null) return null
  return { number, writtenAt, author, url, headCommit, reviewId, commentId, body, comments, check }
}

/** The message with which the feedback would be sent to the agent; `null` when its content was erased. */
export function proposedMessage(document: FeedbackDocument): string | null {
  const content = contentOf(document)
  const { kind, right, verdict } = document
  return content && followUpOf({ kind, right, verdict, ...content })
}

/** How many characters at the end of a check's log are shown. */
const shownLogLength = 8_000

/**
 * Whether the turn that got the feedback led to nothing, according to the task's state: the message was withdrawn, or the turn was cancelled or
 * failed. The events of a withdrawal, a cancellation or a failure do not name the feedback, so the feedback's document does not show them.
 */
function isReturned({ status, feedbackId }: FeedbackDocument, state: TaskState | null): boolean {
  return (
    status === 'sent' && state?.kind === 'task' && state.feedback.items.get(feedbackId)?.status === 'open'
  )
}

/** A document in the form of the API. `pullRequest` has the present head commit; `state` is the task's state, `null` when it cannot be read. */
export function shownFeedback(
  stored: FeedbackDocument,
  { pullRequest }: Pick<TaskDocument, 'pullRequest'>,
  state: TaskState | null,
): ShownFeedback {
  const document: FeedbackDocument = isReturned(stored, state)
    ? { ...stored, status: 'open', messageId: null, isAutomatic: false }
    : stored
  const { id: _id, task: _task, order: _order, executionId: _executionId, ...others } = document
  const { feedbackId, answeredAt: _answeredAt, ...shown } = others
  const head = pullRequest?.standing?.headCommit ?? null
  const { check } = document
  const log = check?.log ?? null
  const isCut = log !== null && log.length > shownLogLength
  return {
    ...shown,
    id: feedbackId,
    check: check && {
      ...check,
      log: isCut ? log.slice(-shownLogLength) : log,
      isLogCut: check.isLogCut || isCut,
    },
    isStale: document.kind === 'check' && head !== null && head !== document.headCommit,
    canBeSent: document.status !== 'sent' && contentOf(document) !== null,
  }
}
