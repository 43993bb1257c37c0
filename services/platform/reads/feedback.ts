/** Feedback as the API shows it, and the message that it would be sent as. */
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import { followUpOf } from '#domain/task/codeHost/followUp.ts'
import type { TaskState } from '#domain/task/state.ts'
import type { FeedbackDocument } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'

/** What was read at the code host; `null` once it is erased. */
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

/** The message that it would be sent as; `null` once its words are erased. */
export function proposedMessage(document: FeedbackDocument): string | null {
  const content = contentOf(document)
  const { kind, right, verdict } = document
  return content && followUpOf({ kind, right, verdict, ...content })
}

/** How much of a log a page shows: its end. */
const shownLog = 8_000

/**
 * Whether it was sent and came to nothing, by the state of its task: the message was withdrawn, or its turn was cancelled or failed. Of these
 * events none names the feedback, so its document knows nothing of them.
 */
function isReturned({ status, feedbackId }: FeedbackDocument, state: TaskState | null): boolean {
  return (
    status === 'sent' && state?.kind === 'task' && state.feedback.items.get(feedbackId)?.status === 'open'
  )
}

/** What the API shows of a document. `task` says which commit is the head; `state` is that of the task, `null` where it cannot be read. */
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
  const isCut = log !== null && log.length > shownLog
  return {
    ...shown,
    id: feedbackId,
    check: check && { ...check, log: isCut ? log.slice(-shownLog) : log, isLogCut: check.isLogCut || isCut },
    isStale: document.kind === 'check' && head !== null && head !== document.headCommit,
    canBeSent: document.status !== 'sent' && contentOf(document) !== null,
  }
}
