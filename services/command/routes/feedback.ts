/** Writes on feedback: sending it to the agent, setting it aside, answering it again, resolving its threads; and drafts. */
import { randomUUID } from 'node:crypto'
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
import { task } from '#domain/task/task.ts'
import { feedbackDocumentId, feedbackView, type FeedbackDocument } from '#domain/views/feedback.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Executed } from '#platform/commands/execute.ts'
import { contentOf, proposedMessage, shownFeedback } from '#platform/reads/feedback.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { requireAgentOfMessage } from '../preconditions.ts'
import { executeOnTask, ownTask, route, taskAfter, written, type CommandServices } from '../services.ts'

interface Named {
  readonly taskId: string
  readonly feedbackId: string
}

export const feedbackRoutes: readonly Route<CommandServices>[] = [
  route(sendFeedback, signedIn, ownTask, async ({ params, body, ...asked }, services) => {
    const { taskId, feedbackId } = params
    const feedback = await feedbackNow(services, params)
    const message = body?.message ?? proposedMessage(feedback)
    if (message === null) throw new Fault('not_found', 'The words of this feedback were erased.')
    const messageId = uuidv5('message', asked.commandId)
    await requireAgentOfMessage({ taskId, commandId: asked.commandId, messageId, agent: null }, services)
    const executed = await executeOnTask(services, taskId, asked, {
      type: 'SendFeedback',
      feedbackId,
      messageId,
      executionId: uuidv5('execution', asked.commandId),
      message,
      content: contentOf(feedback),
      right: feedback.right,
    })
    const shown = await answered(services, params, executed)
    return { ...shown, task: await taskAfter(services, taskId, executed.head) }
  }),
  route(dismissFeedback, signedIn, ownTask, async ({ params, ...asked }, services) => {
    const command = { type: 'DismissFeedback', feedbackId: params.feedbackId } as const
    return answered(services, params, await executeOnTask(services, params.taskId, asked, command))
  }),
  route(restoreFeedback, signedIn, ownTask, async ({ params, ...asked }, services) => {
    const command = { type: 'RestoreFeedback', feedbackId: params.feedbackId } as const
    return answered(services, params, await executeOnTask(services, params.taskId, asked, command))
  }),
  route(resolveFeedback, signedIn, ownTask, async ({ params, ...asked }, services) => {
    const { taskId, feedbackId } = params
    const { comments, number } = await feedbackNow(services, params)
    const threads = [...new Set(comments.filter(isInFull).map(({ threadId }) => threadId))]
    if (threads.length === 0) throw new Fault('not_found', 'There is no thread to resolve here.')
    const nodeId = await nodeOf(services, taskId, number)
    const token = await services.access.tokenOf(asked.user.id)
    // Resolving what is resolved changes nothing there.
    const count = await services.codeHost.resolveThreads(token, nodeId, threads)
    if (count === 0)
      throw new Fault('not_found', 'The threads of this feedback are gone from the pull request.')
    const outcome = { kind: 'resolved', automatic: false } as const
    const command = { type: 'SettleFeedback', feedbackId, outcome } as const
    return answered(services, params, await executeOnTask(services, taskId, asked, command))
  }),
  route(answerFeedback, signedIn, ownTask, async ({ params, ...asked }, services) => {
    const { feedbackId } = params
    const { commit } = await feedbackNow(services, params)
    // Whoever has no access learns it here, and not by another answer that fails.
    await services.access.tokenOf(asked.user.id)
    const command = { type: 'AnswerFeedback', feedbackId, commit } as const
    return answered(services, params, await executeOnTask(services, params.taskId, asked, command))
  }),
  route(setPullRequestDraft, signedIn, ownTask, async ({ params, body, ...asked }, services) => {
    const { taskId } = params
    const { draft } = body
    const { codeHost, commands, access } = services
    const nodeId = await nodeOf(services, taskId)
    const token = await access.tokenOf(asked.user.id)
    await executeOnTask(services, taskId, asked, { type: 'RequestDraft', draft })
    await codeHost.setDraft(token, nodeId, draft)
    const [reading] = await codeHost.pullRequestStates(token, [{ nodeId }])
    const observed = reading?.kind === 'read' ? reading.pullRequest : null
    const cause = { actor: { kind: 'system', service: 'follower' }, commandId: randomUUID() } as const
    const executed = observed
      ? await commands.execute(task, taskStream(taskId), { type: 'ObservePullRequest', observed }, cause)
      : await commands.load(task, taskStream(taskId))
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

/** The code host's id of the task's pull request. Throws where that is no longer the one with `number`, if one is given. */
async function nodeOf(
  { documents }: CommandServices,
  taskId: string,
  number: number | null = null,
): Promise<string> {
  const pull = await documents.now(pullRequestsView, taskStream(taskId), taskId)
  if (!pull) throw new Fault('not_found', 'This task has no pull request.')
  if (number !== null && pull.number !== number)
    throw new Fault('not_found', 'This feedback is on an earlier pull request of this task.')
  if (pull.nodeId === null)
    throw new Fault('code_host_unavailable', 'The pull request has not been read yet. Try again in a moment.')
  return pull.nodeId
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
