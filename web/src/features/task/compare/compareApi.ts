import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { comparisonRoutes } from '#domain/api/comparison.ts'
import type { addAlternative, getComparison } from '#domain/api/comparison.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { ofTask } from '../taskCall.ts'
import { texts } from './texts.ts'

const compareApi = api.injectEndpoints({
  endpoints: (build) => ({
    comparison: build.query<AnswerOf<typeof getComparison>, string>({
      query: ofTask<typeof getComparison>(comparisonRoutes.getComparison, texts.failed),
      providesTags: ['Tasks'],
    }),
    addAlternative: build.mutation<
      AnswerOf<typeof addAlternative>,
      BodyInputOf<typeof addAlternative> & { readonly taskId: string }
    >({
      query: ({ taskId, ...body }) =>
        requestOf<typeof addAlternative>(comparisonRoutes.addAlternative, {
          params: { taskId },
          body,
          key: body.id,
          fallback: texts.dialog.failed,
        }),
      invalidatesTags: (answer) =>
        answer === undefined ? [] : ['Tasks', 'Projects', { type: 'Project', id: answer.task.projectId }],
    }),
  }),
})

export const { useComparisonQuery, useAddAlternativeMutation } = compareApi
