/** Completes the onboarding. */
import { authRoutes } from '#domain/api/auth.ts'
import type { completeOnboarding } from '#domain/api/auth.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { storeUser } from '../auth/authApi.ts'
import { texts } from './texts.ts'

export const onboardingApi = api.injectEndpoints({
  endpoints: (build) => ({
    completeOnboarding: build.mutation<
      AnswerOf<typeof completeOnboarding>,
      BodyInputOf<typeof completeOnboarding>
    >({
      query: (body) =>
        requestOf<typeof completeOnboarding>(authRoutes.completeOnboarding, { body, fallback: texts.failed }),
      onQueryStarted: storeUser,
    }),
  }),
})

export const { useCompleteOnboardingMutation } = onboardingApi
