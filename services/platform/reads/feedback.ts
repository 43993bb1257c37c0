/** Feedback as the API shows it, and the message that it would be sent as. */
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import { followUpOf } from '#domain/task/followUp.ts'
import type { FeedbackDocument } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'

/** What was read at the code host; `null` once it is erased. */
export function contentOf({
  number,
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
  return { number, author, url, headCommit, reviewId, commentId, body, comments, check }
}

/** The message that it would be sent as; `null` once its words are erased. */
export function proposedMessage(document: FeedbackDocument): string | null {
  const content = contentOf(document)
  const { kind, right, verdict } = document
  return content && followUpOf({ kind, right, verdict, ...content })
}

/** How much of a log a page shows: its end. */
const shownLog = 8_000

/** What the API shows of a document. `task` says which commit is the head. */
export function shownFeedback(
  document: FeedbackDocument,
  { pullRequest }: Pick<TaskDocument, 'pullRequest'>,
): ShownFeedback {
  const { id: _id, task: _task, order: _order, executionId: _executionId, feedbackId, ...shown } = document
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
