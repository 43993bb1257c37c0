/** The API's form of feedback, and the message with which it would be sent. */
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import { followUpOf } from '#domain/task/codeHost/followUp.ts'
import type { TaskState } from '#domain/task/state.ts'
import type { FeedbackDocument } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'

/** The content read at the code host; `null` once erased. */
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

/** The message with which the feedback would be sent; `null` once its content was erased. */
export function proposedMessage(document: FeedbackDocument): string | null {
  const content = contentOf(document)
  const { kind, right, verdict } = document
  return content && followUpOf({ kind, right, verdict, ...content })
}

/** Characters from the end of a check's log. */
const shownLogLength = 8_000

/**
 * Whether the turn for the feedback had no result, according to the task's state: the message was withdrawn, or the turn was cancelled or failed.
 * None of these events names the feedback, so its document does not know.
 */
function isReturned({ status, feedbackId }: FeedbackDocument, state: TaskState | null): boolean {
  return (
    status === 'sent' && state?.kind === 'task' && state.feedback.items.get(feedbackId)?.status === 'open'
  )
}

/** The API's form of a feedback document. `task` has the current head commit; `state` is the task's state, or `null` when it cannot be read. */
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
