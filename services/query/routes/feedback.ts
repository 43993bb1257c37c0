/** Reads of the feedback on a task's pull request. */
import { feedbackPage } from '#domain/api/feedback.ts'
import { listFeedback, readFeedbackMessage } from '#domain/api/feedback.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { feedbackDocumentId, feedbackView } from '#domain/views/feedback.ts'
import { proposedMessage, shownFeedback } from '#platform/reads/feedback.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

export const feedbackRoutes: readonly Route<QueryServices>[] = [
  route(listFeedback, signedIn, fresh, ownTask, async ({ task }, { documents }) => {
    const found = await documents.find(feedbackView, {
      where: { task: task.id },
      sort: { field: 'order', direction: 'descending' },
      limit: feedbackPage,
    })
    return {
      feedback: found.map((one) => shownFeedback(one, task)).toReversed(),
      version: task.version,
    }
  }),
  route(readFeedbackMessage, signedIn, fresh, ownTask, async ({ task, params }, { documents }) => {
    const found = await documents.get(feedbackView, feedbackDocumentId(task.id, params.feedbackId))
    const message = found && proposedMessage(found)
    if (!message)
      throw new Fault('not_found', 'There is no such feedback in this task, or its words were erased.')
    return { message }
  }),
]
