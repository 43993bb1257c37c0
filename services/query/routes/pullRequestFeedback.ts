/** The routes that read the feedback on a task's pull request. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { feedbackPage } from '#domain/api/feedback.ts'
import { listFeedback, readFeedbackMessage } from '#domain/api/feedback.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { TaskState } from '#domain/task/state.ts'
import { task as taskDecider } from '#domain/task/task.ts'
import { feedbackDocumentId, feedbackView, type FeedbackDocument } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { newest } from '#platform/reads/documentPages.ts'
import { proposedMessage, shownFeedback } from '#platform/reads/feedback.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

export const feedbackRoutes: readonly Route<QueryServices>[] = [
  route(listFeedback, signedIn, fresh, ownTask, ({ task }, services) => latestFeedback(services, task)),
  route(readFeedbackMessage, signedIn, fresh, ownTask, async ({ task, params }, { documents }) => {
    const found = await documents.get(feedbackView, feedbackDocumentId(task.id, params.feedbackId))
    const message = found && proposedMessage(found)
    if (!message)
      throw new Fault('not_found', 'There is no such feedback in this task, or its words were erased.')
    return { message }
  }),
]

/** The latest feedback of a task, oldest first, and whether there is more. */
export async function latestFeedback(
  { documents, commands }: Pick<QueryServices, 'documents' | 'commands'>,
  task: Pick<TaskDocument, 'id' | 'version' | 'pullRequest'>,
): Promise<AnswerOf<typeof listFeedback>> {
  const oneMore = await newest(documents, feedbackView, { task: task.id }, feedbackPage + 1)
  const found = oneMore.slice(0, feedbackPage)
  const state = found.some(isUnderWay) ? await stateOf(commands, task.id) : null
  return {
    feedback: found.map((one) => shownFeedback(one, task, state)).toReversed(),
    ...(oneMore.length > feedbackPage && { more: true as const }),
    version: task.version,
  }
}

/** Whether the feedback was sent to the agent, and no answer to it is due yet. Only the task's state tells whether its turn has failed meanwhile. */
function isUnderWay({ status, answer }: FeedbackDocument): boolean {
  return status === 'sent' && answer === 'none'
}

/** The state of the task; `null` when the task's stream cannot be read. */
async function stateOf(
  commands: Pick<QueryServices['commands'], 'load'>,
  taskId: string,
): Promise<TaskState | null> {
  try {
    return (await commands.load(taskDecider, taskStream(taskId))).state
  } catch (fault) {
    if (fault instanceof UnreadableEvent) return null
    throw fault
  }
}
