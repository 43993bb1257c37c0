/** Reads of the feedback on a task's pull request. */
import { feedbackPage } from '#domain/api/feedback.ts'
import { listFeedback } from '#domain/api/feedback.schema.ts'
import { feedbackView } from '#domain/views/feedback.ts'
import { shownFeedback } from '#platform/reads/feedback.ts'
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
]
