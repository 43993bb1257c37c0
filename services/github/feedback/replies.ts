/** Replies to one piece of feedback: makes their text, finds the threads in which to reply, and writes the replies that are missing. */
import { feedbackReply } from '#domain/task/codeHost/feedbackReply.ts'
import { isInFull } from '#domain/task/codeHost/feedbackRule.ts'
import { hasMarkerOf, markerOf } from '#domain/task/visibleText.ts'
import { chatView } from '#domain/views/chat.ts'
import type { FeedbackDocument } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { nameAtCodeHost, usersView } from '#domain/views/users.ts'
import type { Engines } from '#platform/compose.ts'
import { CodeHostFault, writeOrFind, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import { newest } from '#platform/reads/documentPages.ts'

/**
 * Writes the missing replies: one in each thread, and a single one on the pull request for all threads that are gone. Returns the ids of all replies.
 */
export async function writeReplies(
  codeHost: Pick<CodeHost, 'pullRequestFeedback' | 'writeComment'>,
  at: { readonly token: string; readonly repository: RepositoryName; readonly number: number },
  feedback: FeedbackDocument,
  words: string,
): Promise<readonly string[]> {
  const { token, repository, number } = at
  const read = async (): Promise<readonly { readonly id: string; readonly body: string }[]> => {
    const { lines, comments } = await codeHost.pullRequestFeedback(token, repository, number)
    return [...lines, ...comments]
  }
  const written = [...(await read())]
  const writeIn = async (threadId: string | null): Promise<string> => {
    const id = `${feedback.feedbackId}-${threadId ?? 'all'}`
    const before = written.find((one) => hasMarkerOf(one.body, id))
    if (before) return before.id
    const body = `${words}\n\n${markerOf(id)}`
    const replyId = await writeOrFind(
      () => codeHost.writeComment(token, repository, number, { threadId, body }),
      async () => (await read()).find((one) => hasMarkerOf(one.body, id))?.id,
    )
    written.push({ id: replyId, body })
    return replyId
  }
  const ids = new Set<string>()
  for (const threadId of threadsOf(feedback)) {
    const replyId = await writeIn(threadId).catch((fault: unknown) => {
      const isGone = threadId !== null && fault instanceof CodeHostFault && fault.kind === 'not_found'
      if (isGone) return writeIn(null)
      throw fault
    })
    ids.add(replyId)
  }
  return [...ids]
}

/** The threads to reply in: each thread that the agent was given. If there are none, the only entry is `null`, for the pull request as a whole. */
export function threadsOf({ comments }: FeedbackDocument): readonly (string | null)[] {
  const threads = new Set(comments.filter(isInFull).map(({ threadId }) => threadId))
  return threads.size === 0 ? [null] : [...threads]
}

/** The text of the reply: the agent's last message, the commit, and the person for whom the agent works. */
export async function replyText(
  { documents }: Pick<Engines, 'documents'>,
  { task: taskId, executionId, commit }: FeedbackDocument,
  { owner, agent }: TaskDocument,
) {
  const [[last], person] = await Promise.all([
    newest(documents, chatView, { task: taskId, executionId: executionId ?? '', messageType: 'response' }, 1),
    documents.get(usersView, owner),
  ])
  return feedbackReply({
    said: last?.message ?? '',
    commit,
    agent,
    person: nameAtCodeHost(person),
  })
}
