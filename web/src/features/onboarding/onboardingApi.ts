/** Finishing the onboarding. */
import { authRoutes } from '#domain/api/auth.ts'
import type { completeOnboarding } from '#domain/api/auth.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { userTold } from '../auth/authApi.ts'
import { texts } from './texts.ts'

export const onboardingApi = api.injectEndpoints({
  endpoints: (build) => ({
    completeOnboarding: build.mutation<
      AnswerOf<typeof completeOnboarding>,
      BodyInputOf<typeof completeOnboarding>
    >({
      query: (body) =>
        requestOf<typeof completeOnboarding>(authRoutes.completeOnboarding, { body, fallback: texts.failed }),
      onQueryStarted: async (_body, { dispatch, queryFulfilled }) => {
        const answer = await queryFulfilled.catch(() => null)
        if (answer !== null) dispatch(userTold(answer.data.user))
      },
    }),
  }),
})

export const { useCompleteOnboardingMutation } = onboardingApi
