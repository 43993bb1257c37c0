/** The route that lists an agent's questions. */
import { listQuestions } from '#domain/api/questions.schema.ts'
import { questionsPage } from '#domain/api/questions.ts'
import { questionsView, shownQuestion } from '#domain/views/questions.ts'
import { newest } from '#platform/reads/documentPages.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

export const questionRoutes: readonly Route<QueryServices>[] = [
  route(listQuestions, signedIn, fresh, ownTask, async ({ task }, { documents }) => {
    const found = await newest(documents, questionsView, { task: task.id }, questionsPage)
    return { questions: found.map(shownQuestion).toReversed(), version: task.version }
  }),
]
