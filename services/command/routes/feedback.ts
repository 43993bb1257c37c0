/** The routes that handle feedback on a pull request, and the route that makes the pull request a draft or ready for review. */
import { v5 as uuidv5 } from 'uuid'
import {
  answerFeedback,
  dismissFeedback,
  resolveFeedback,
  restoreFeedback,
  sendFeedback,
  setPullRequestDraft,
} from '#domain/api/feedback.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { isInFull } from '#domain/task/codeHost/feedbackRule.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { TaskState } from '#domain/task/state.ts'
import { feedbackDocumentId, feedbackView, type FeedbackDocument } from '#domain/views/feedback.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Executed } from '#platform/commands/execute.ts'
import { contentOf, proposedMessage, shownFeedback } from '#platform/reads/feedback.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { requireAgentOfMessage } from '../checks/preconditions.ts'
import { pullRequestNode, setDraft } from '../pullRequest/draft.ts'
import { executeOnTask, ownTask, route, taskAfter, written, type CommandServices } from '../services.ts'

interface Named {
  readonly taskId: string
  readonly feedbackId: string
}

export const feedbackRoutes: readonly Route<CommandServices>[] = [
  route(sendFeedback, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { taskId, feedbackId } = params
    const feedback = await feedbackNow(services, params)
    const message = body?.message ?? proposedMessage(feedback)
    if (message === null) throw new Fault('not_found', 'The words of this feedback were erased.')
    const messageId = uuidv5('message', request.commandId)
    await requireAgentOfMessage({ taskId, commandId: request.commandId, messageId, agent: null }, services)
    const executed = await executeOnTask(services, taskId, request, {
      type: 'SendFeedback',
      feedbackId,
      messageId,
      executionId: uuidv5('execution', request.commandId),
      message,
      content: contentOf(feedback),
      right: feedback.right,
    })
    const shown = await answered(services, params, executed)
    return { ...shown, task: await taskAfter(services, taskId, executed.head) }
  }),
  route(dismissFeedback, signedIn, ownTask, async ({ params, ...request }, services) => {
    const command = { type: 'DismissFeedback', feedbackId: params.feedbackId } as const
    return answered(services, params, await executeOnTask(services, params.taskId, request, command))
  }),
  route(restoreFeedback, signedIn, ownTask, async ({ params, ...request }, services) => {
    const command = { type: 'RestoreFeedback', feedbackId: params.feedbackId } as const
    return answered(services, params, await executeOnTask(services, params.taskId, request, command))
  }),
  route(resolveFeedback, signedIn, ownTask, async ({ params, ...request }, services) => {
    const { taskId, feedbackId } = params
    const { comments, number } = await feedbackNow(services, params)
    const threads = [...new Set(comments.filter(isInFull).map(({ threadId }) => threadId))]
    if (threads.length === 0) throw new Fault('not_found', 'There is no thread to resolve here.')
    const nodeId = await pullRequestNode(services, taskId, number)
    const token = await services.access.tokenOf(request.user.id)
    // A repeated request does no harm, because resolving a resolved thread changes nothing.
    const count = await services.codeHost.resolveThreads(token, nodeId, threads)
    if (count === 0)
      throw new Fault('not_found', 'The threads of this feedback are gone from the pull request.')
    const outcome = { kind: 'resolved', automatic: false } as const
    const command = { type: 'SettleFeedback', feedbackId, outcome } as const
    return answered(services, params, await executeOnTask(services, taskId, request, command))
  }),
  route(answerFeedback, signedIn, ownTask, async ({ params, ...request }, services) => {
    const { feedbackId } = params
    const { commit } = await feedbackNow(services, params)
    // This throws for a person without access to the code host, who would otherwise see only later that the reply failed again.
    await services.access.tokenOf(request.user.id)
    const command = { type: 'AnswerFeedback', feedbackId, commit } as const
    return answered(services, params, await executeOnTask(services, params.taskId, request, command))
  }),
  route(setPullRequestDraft, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { taskId } = params
    const executed = await setDraft(services, taskId, request, body.draft)
    const placed = await written(executed.position, services)
    return { success: true as const, task: await taskAfter(services, taskId, executed.head), ...placed }
  }),
]

async function feedbackNow(
  { documents }: CommandServices,
  { taskId, feedbackId }: Named,
): Promise<FeedbackDocument> {
  const id = feedbackDocumentId(taskId, feedbackId)
  const found = await documents.now(feedbackView, taskStream(taskId), id)
  if (!found) throw new Fault('not_found', 'There is no such feedback in this task.')
  return found
}

async function answered(
  services: CommandServices,
  { taskId, feedbackId }: Named,
  executed: Executed<TaskState>,
) {
  const { documents } = services
  const placed = await written(executed.position, services)
  const id = feedbackDocumentId(taskId, feedbackId)
  const feedback = await documents.asOf(feedbackView, taskStream(taskId), id, executed.head)
  const of = await documents.asOf(tasksView, taskStream(taskId), taskId, executed.head)
  if (!feedback || !of) throw new Fault('not_found', 'There is no such feedback in this task.')
  return { feedback: shownFeedback(feedback, of, executed.state), ...placed }
}
