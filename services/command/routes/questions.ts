/** The route that answers a question of an agent. */
import { v5 as uuidv5 } from 'uuid'
import { answerQuestion } from '#domain/api/questions.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { answerInWords } from '#domain/task/questions.ts'
import {
  questionDocumentId,
  questionsView,
  shownQuestion,
  type QuestionDocument,
} from '#domain/views/questions.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { answerFor } from '../checks/questionAnswer.ts'
import { executeOnTask, ownTask, route, written, type CommandServices } from '../services.ts'

export const questionRoutes: readonly Route<CommandServices>[] = [
  route(answerQuestion, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { taskId, questionId } = params
    const question = await questionNow(services, taskId, questionId)
    const answer = answerFor(question, body.answer)
    const executed = await executeOnTask(services, taskId, request, {
      type: 'AnswerQuestion',
      questionId,
      answer,
      answeredBy: request.user.id,
      messageId: uuidv5('message', request.commandId),
      executionId: uuidv5('execution', request.commandId),
      message: answerInWords(question, answer),
    }).catch((thrown: unknown) => withQuestion(services, taskId, questionId, thrown))
    const placed = await written(executed.position, services)
    return { question: shownQuestion(await questionNow(services, taskId, questionId)), ...placed }
  }),
]

async function questionNow(
  { documents }: CommandServices,
  taskId: string,
  questionId: string,
): Promise<QuestionDocument> {
  const id = questionDocumentId(taskId, questionId)
  const found = await documents.now(questionsView, taskStream(taskId), id)
  if (!found) throw new Fault('not_found', 'There is no such question in this task.')
  return found
}

/** Rethrows `thrown`. If the question already has an answer, or was withdrawn, the fault then contains the question. */
async function withQuestion(
  services: CommandServices,
  taskId: string,
  questionId: string,
  thrown: unknown,
): Promise<never> {
  if (!(thrown instanceof Fault) || !/^(already_answered|question_withdrawn)$/.test(thrown.code)) throw thrown
  const question = shownQuestion(await questionNow(services, taskId, questionId))
  throw new Fault(thrown.code, thrown.message, thrown.field, {
    current: { ...thrown.details.current, question },
  })
}
