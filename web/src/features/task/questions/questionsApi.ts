/** The API call that answers a question. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { questionRoutes } from '#domain/api/questions.ts'
import type { AnswerInput, answerQuestion } from '#domain/api/questions.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

interface AnswerArguments {
  readonly taskId: string
  readonly questionId: string
  readonly answer: AnswerInput
  /** The idempotency key: the same for each attempt to send the same answer. */
  readonly key: string
}

const questionsApi = api.injectEndpoints({
  endpoints: (build) => ({
    answerQuestion: build.mutation<AnswerOf<typeof answerQuestion>, AnswerArguments>({
      query: ({ answer, key, ...params }) =>
        requestOf<typeof answerQuestion>(questionRoutes.answerQuestion, {
          params,
          body: { answer },
          key,
          fallback: texts.notSent,
        }),
      invalidatesTags: (answer) => (answer === undefined ? [] : ['Tasks']),
    }),
  }),
})

export const { useAnswerQuestionMutation } = questionsApi
