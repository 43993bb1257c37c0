/** GitHub: the person's account, the repositories that the App reaches for them, and the App's rights for administrators. */
import type { linkGitHub } from '#domain/api/auth.schema.ts'
import { authRoutes } from '#domain/api/auth.ts'
import { gitHubRoutes } from '#domain/api/github.ts'
import type { getGitHubAccess, getGitHubRights, GitHubAccess } from '#domain/api/github.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type { getGitHubUser } from '#domain/api/projects.schema.ts'
import { projectRoutes } from '#domain/api/projects.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'

export type { GitHubAccess }
export type GitHubRights = AnswerOf<typeof getGitHubRights>

/** The messages of failed calls for which the server gives no reason. */
export const gitHubFaults = {
  notConnected: 'Failed to connect GitHub',
  notFetched: 'Failed to fetch GitHub data',
  rightsNotFetched: 'Failed to fetch what GitHub tells of the App',
}

const gitHubApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** `installationId` is the installation that GitHub named when it sent the browser back; the server refuses somebody else's. */
    gitHubAccess: build.query<GitHubAccess, string | null>({
      query: (installationId) =>
        requestOf<typeof getGitHubAccess>(gitHubRoutes.getGitHubAccess, {
          query: installationId === null ? {} : { installation_id: installationId },
          fallback: gitHubFaults.notFetched,
        }),
      providesTags: ['GitHub'],
    }),
    gitHubUser: build.query<AnswerOf<typeof getGitHubUser>, void>({
      query: () =>
        requestOf<typeof getGitHubUser>(projectRoutes.getGitHubUser, { fallback: gitHubFaults.notFetched }),
      providesTags: ['GitHub'],
    }),
    linkGitHub: build.mutation<AnswerOf<typeof linkGitHub>, BodyInputOf<typeof linkGitHub>>({
      query: (body) =>
        requestOf<typeof linkGitHub>(authRoutes.linkGitHub, { body, fallback: gitHubFaults.notConnected }),
    }),
    gitHubRights: build.query<GitHubRights, void>({
      query: () =>
        requestOf<typeof getGitHubRights>(gitHubRoutes.getGitHubRights, {
          fallback: gitHubFaults.rightsNotFetched,
        }),
      providesTags: ['GitHub'],
    }),
    /** Makes the server ask GitHub again what the person may access. */
    refreshGitHubAccess: build.mutation<GitHubAccess, void>({
      query: () =>
        requestOf<typeof getGitHubAccess>(gitHubRoutes.getGitHubAccess, {
          query: { refresh: 'true' },
          fallback: gitHubFaults.notFetched,
        }),
      invalidatesTags: ['GitHub'],
    }),
    refreshGitHubRights: build.mutation<GitHubRights, void>({
      query: () =>
        requestOf<typeof getGitHubRights>(gitHubRoutes.getGitHubRights, {
          query: { refresh: 'true' },
          fallback: gitHubFaults.rightsNotFetched,
        }),
      invalidatesTags: ['GitHub'],
    }),
  }),
})

export const {
  useGitHubAccessQuery,
  useGitHubUserQuery,
  useLinkGitHubMutation,
  useGitHubRightsQuery,
  useRefreshGitHubAccessMutation,
  useRefreshGitHubRightsMutation,
} = gitHubApi
