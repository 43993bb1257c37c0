/** The text of the comment about a task, from the task, its to-do list and the feedback that it works on. */
import type { AnsweredFeedback } from '#domain/task/codeHost/commitMessage.ts'
import { issueComment } from '#domain/task/codeHost/issue.ts'
import { chatView } from '#domain/views/chat.ts'
import { feedbackView } from '#domain/views/feedback.ts'
import type { TaskCommentDocument } from '#domain/views/taskComments.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { nameAtCodeHost, usersView } from '#domain/views/users.ts'
import type { Engines } from '#platform/compose.ts'
import { newest } from '#platform/reads/documentPages.ts'

export interface CommentTextDeps extends Pick<Engines, 'documents'> {
  /** The address of the product; `null` when readers of the code host cannot open it. */
  readonly publicAddress: string | null
}

export async function taskCommentText(
  { documents, publicAddress }: CommentTextDeps,
  { isOnPull, todos }: TaskCommentDocument,
  { id, owner, agent, status, execution, prNumber }: TaskDocument,
): Promise<string> {
  const [person, worksOn] = await Promise.all([
    documents.get(usersView, owner),
    feedbackOf({ documents }, id, execution?.id),
  ])
  return issueComment({
    agent,
    person: nameAtCodeHost(person),
    where: publicAddress === null ? `task ${id}` : `${publicAddress}/tasks/${id}`,
    status,
    turn: execution?.turn ?? 1,
    pullRequest: isOnPull ? null : prNumber,
    worksOn,
    todos,
  })
}

/** How many of a turn's newest messages and of a task's newest pieces of feedback are compared. */
const maxRead = 50

async function feedbackOf(
  { documents }: Pick<CommentTextDeps, 'documents'>,
  taskId: string,
  executionId: string | undefined,
): Promise<readonly AnsweredFeedback[]> {
  if (executionId === undefined) return []
  const [messages, feedback] = await Promise.all([
    newest(documents, chatView, { task: taskId, executionId, messageType: 'user' }, maxRead),
    newest(documents, feedbackView, { task: taskId }, maxRead),
  ])
  const delivered = new Set(messages.map(({ messageId }) => messageId))
  return feedback
    .filter(({ messageId }) => messageId !== null && delivered.has(messageId))
    .map(({ kind, author, check }) => ({ kind, author: author?.login ?? null, check: check?.name ?? null }))
}
