/** The texts of a task's commits and pull request. */
import { firstCommitMessage, followUpMessage } from '#domain/task/codeHost/commitMessage.ts'
import { doneFeedback } from '#domain/task/codeHost/feedbackState.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { chatView } from '#domain/views/chat.ts'
import { feedbackDocumentId, feedbackView } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { proposalFor } from '#platform/reads/pullRequestProposal.ts'
import { isProjected } from '../execution/runInput.ts'
import type { Publication, PublishingDeps } from './publication.ts'

type Deps = Pick<PublishingDeps, 'commands' | 'documents' | 'projected'>

/** At most this many messages of a turn are read to find its request and its answer. */
const messagesOfTurn = 200

/**
 * Title and body of a pull request: those that a person wrote or, for an automatic request, the proposed ones. Throws `EngineUnavailable` while the
 * chat is not projected.
 */
export async function wordsOf(
  deps: Deps,
  { task, requested }: Pick<Publication, 'task' | 'requested'>,
): Promise<{ readonly title: string; readonly body: string }> {
  if (!requested.automatic) return requested
  await requireProjected(deps, task.id)
  return proposalFor(deps, task)
}

/** Throws unless the chat is projected: the text of a commit or a pull request stays as it is written once. */
async function requireProjected(deps: Deps, taskId: string): Promise<void> {
  if (!(await isProjected(deps, taskId))) throw new EngineUnavailable('The projection')
}

/** The message of the published commit. Throws `EngineUnavailable` while the chat is not projected. */
export async function messageOf(deps: Deps, publication: Publication): Promise<string> {
  const { state, task } = publication
  if ((state.pullRequest?.headCommit ?? null) !== null) return messageOfFollowUp(deps, state, task)
  return firstCommitMessage((await wordsOf(deps, publication)).title, state.issue?.number ?? null)
}

/** The commit message of an update: the report of the agent about the latest turn, the request of the turn, and the feedback that was worked on. */
async function messageOfFollowUp(
  deps: Deps,
  state: LiveTask,
  { id, execution, prNumber }: TaskDocument,
): Promise<string> {
  await requireProjected(deps, id)
  const { documents } = deps
  const done = doneFeedback(state).map((feedbackId) => feedbackDocumentId(id, feedbackId))
  const [messages, feedback] = await Promise.all([
    documents.find(chatView, {
      where: { task: id, executionId: execution?.id ?? '' },
      sort: { field: 'executionId', direction: 'ascending' },
      limit: messagesOfTurn,
    }),
    documents.getMany(feedbackView, done),
  ])
  const worked = [...feedback.values()]
  const latest = messages.toSorted((one, other) => (one.order < other.order ? 1 : -1))
  const request = latest.find(({ messageType }) => messageType === 'user')
  const isOfFeedback = worked.some(({ messageId }) => messageId === request?.messageId)
  return followUpMessage({
    number: prNumber ?? 0,
    said: latest.find(({ messageType }) => messageType === 'response')?.message ?? null,
    asked: isOfFeedback ? null : (request?.message ?? null),
    feedback: worked.map(({ kind, author, check }) => ({
      kind,
      author: author?.login ?? null,
      check: check?.name ?? null,
    })),
  })
}
