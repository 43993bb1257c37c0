/** A person's own instructions and commands on the server. */
import { abilityRoutes } from '#domain/api/abilities.ts'
import type { getInstructions, updateInstructions } from '#domain/api/abilities.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { instructionTexts } from './texts.ts'

const instructionsApi = api.injectEndpoints({
  endpoints: (build) => ({
    instructions: build.query<AnswerOf<typeof getInstructions>, void>({
      query: () =>
        requestOf<typeof getInstructions>(abilityRoutes.getInstructions, {
          fallback: instructionTexts.notFetched,
        }),
      providesTags: ['User'],
    }),
    updateInstructions: build.mutation<
      AnswerOf<typeof updateInstructions>,
      BodyInputOf<typeof updateInstructions>
    >({
      query: (body) =>
        requestOf<typeof updateInstructions>(abilityRoutes.updateInstructions, {
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
