/** The App at the code host: what it reaches for the person, and how it stands for administrators. */
import { gitHubRoutes } from '#domain/api/github.ts'
import type { getGitHubAccess, getGitHubRights } from '#domain/api/github.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'

export type GitHubAccess = AnswerOf<typeof getGitHubAccess>
export type GitHubRights = AnswerOf<typeof getGitHubRights>

const gitHubApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** With the installation that the browser came back with, which the server refuses unless it is the person's. */
    gitHubAccess: build.query<GitHubAccess, string | null>({
      query: (installationId) =>
        requestOf<typeof getGitHubAccess>(gitHubRoutes.getGitHubAccess, {
          query: installationId === null ? {} : { installation_id: installationId },
          fallback: 'Failed to fetch GitHub data',
        }),
      providesTags: ['GitHub'],
    }),
    gitHubRights: build.query<GitHubRights, void>({
      query: () =>
        requestOf<typeof getGitHubRights>(gitHubRoutes.getGitHubRights, {
          fallback: 'Failed to fetch what GitHub tells of the App',
        }),
    }),
  }),
})

export const { useGitHubAccessQuery, useGitHubRightsQuery } = gitHubApi
