/** Calls about the person's profile, sessions, account, organizations and connection to GitHub. */
import { authRoutes } from '#domain/api/auth.ts'
import { projectRoutes } from '#domain/api/projects.ts'
import type {
  deleteAccount,
  disconnectGitHub,
  endSession,
  endSessions,
  listSessions,
  updateProfile,
} from '#domain/api/auth.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type { listOrganizations } from '#domain/api/projects.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { storeUser } from '../auth/authApi.ts'
import { accountTexts, sessionTexts, texts } from './texts.ts'

export const settingsApi = api.injectEndpoints({
  endpoints: (build) => ({
    updateProfile: build.mutation<AnswerOf<typeof updateProfile>, BodyInputOf<typeof updateProfile>>({
      query: (body) =>
        requestOf<typeof updateProfile>(authRoutes.updateProfile, { body, fallback: texts.updateFailed }),
      onQueryStarted: storeUser,
    }),
    disconnectGitHub: build.mutation<AnswerOf<typeof disconnectGitHub>, void>({
      query: () =>
        requestOf<typeof disconnectGitHub>(authRoutes.disconnectGitHub, { fallback: texts.disconnectFailed }),
      // GitHub's data is not fetched again, because that would fail without the account and show a fault.
      onQueryStarted: storeUser,
    }),
    deleteAccount: build.mutation<AnswerOf<typeof deleteAccount>, void>({
      query: () =>
        requestOf<typeof deleteAccount>(authRoutes.deleteAccount, { fallback: accountTexts.notDeleted }),
    }),
    sessions: build.query<AnswerOf<typeof listSessions>, void>({
      query: () =>
        requestOf<typeof listSessions>(authRoutes.listSessions, { fallback: sessionTexts.notFetched }),
      providesTags: ['Sessions'],
    }),
    endSession: build.mutation<AnswerOf<typeof endSession>, string>({
      query: (sessionId) =>
        requestOf<typeof endSession>(authRoutes.endSession, {
          params: { sessionId },
          fallback: sessionTexts.notEnded,
        }),
      invalidatesTags: ['Sessions'],
    }),
    endSessions: build.mutation<AnswerOf<typeof endSessions>, void>({
      query: () => requestOf<typeof endSessions>(authRoutes.endSessions, { fallback: sessionTexts.notEnded }),
    }),
    organizations: build.query<AnswerOf<typeof listOrganizations>, void>({
      query: () =>
        requestOf<typeof listOrganizations>(projectRoutes.listOrganizations, { fallback: texts.notFetched }),
      providesTags: ['GitHub'],
    }),
  }),
})

export const {
  useUpdateProfileMutation,
  useDeleteAccountMutation,
  useDisconnectGitHubMutation,
  useSessionsQuery,
  useEndSessionMutation,
  useEndSessionsMutation,
  useOrganizationsQuery,
} = settingsApi
