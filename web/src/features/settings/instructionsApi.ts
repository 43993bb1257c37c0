/** Reads and updates a person's own instructions and commands. */
import { instructionRoutes } from '#domain/api/instructions.ts'
import type { getInstructions, updateInstructions } from '#domain/api/instructions.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { instructionTexts } from './texts.ts'

const instructionsApi = api.injectEndpoints({
  endpoints: (build) => ({
    instructions: build.query<AnswerOf<typeof getInstructions>, void>({
      query: () =>
        requestOf<typeof getInstructions>(instructionRoutes.getInstructions, {
          fallback: instructionTexts.notFetched,
        }),
      providesTags: ['User'],
    }),
    updateInstructions: build.mutation<
      AnswerOf<typeof updateInstructions>,
      BodyInputOf<typeof updateInstructions>
    >({
      query: (body) =>
        requestOf<typeof updateInstructions>(instructionRoutes.updateInstructions, {
          body,
          fallback: instructionTexts.notSaved,
        }),
      onQueryStarted: async (_, { dispatch, queryFulfilled }) => {
        const answer = await queryFulfilled.catch(() => undefined)
        if (answer) dispatch(instructionsApi.util.upsertQueryData('instructions', undefined, answer.data))
      },
    }),
  }),
})

export const { useInstructionsQuery, useUpdateInstructionsMutation } = instructionsApi
