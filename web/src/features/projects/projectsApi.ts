/** Projects on the server, and the repositories they can be made of. */
import type { AnswerOf } from '#domain/api/call.ts'
import type { listRepositories } from '#domain/api/projects.ts'
import { api } from '../../api/api.ts'
import { texts } from './texts.ts'

export const projectsApi = api.injectEndpoints({
  endpoints: (build) => ({
    repositories: build.query<AnswerOf<typeof listRepositories>, void>({
      query: () => ({
        path: '/github/repos',
        query: { type: 'all', sort: 'updated', per_page: 100 },
        fallback: texts.repositoriesNotFetched,
      }),
      providesTags: ['GitHub'],
    }),
  }),
})

export const { useRepositoriesQuery } = projectsApi
