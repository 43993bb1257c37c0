/** Projects on the server, and the repositories they can be made of. */
import type { AnswerOf, BodyInputOf } from '#domain/api/call.ts'
import type {
  createProject,
  createRepository,
  getProject,
  listBranches,
  listProjects,
  listRepositories,
  syncProject,
} from '#domain/api/projects.ts'
import { api } from '../../api/api.ts'
import { texts } from './texts.ts'

export const projectsApi = api.injectEndpoints({
  endpoints: (build) => ({
    projects: build.query<AnswerOf<typeof listProjects>, void>({
      query: () => ({ path: '/projects', query: { limit: 1_000 }, fallback: texts.notFetched }),
      providesTags: ['Projects'],
    }),
    project: build.query<AnswerOf<typeof getProject>, string>({
      query: (id) => ({ path: `/projects/${encodeURIComponent(id)}`, fallback: texts.oneNotFetched }),
      providesTags: (_answer, _error, id) => [{ type: 'Project', id }],
    }),
    branches: build.query<AnswerOf<typeof listBranches>, string>({
      query: (id) => ({
        path: `/projects/${encodeURIComponent(id)}/branches`,
        fallback: texts.branchesNotFetched,
      }),
    }),
    createProject: build.mutation<AnswerOf<typeof createProject>, BodyInputOf<typeof createProject>>({
      query: (body) => ({ method: 'POST', path: '/projects', body, fallback: texts.notCreated }),
      invalidatesTags: ['Projects'],
    }),
    syncProject: build.mutation<AnswerOf<typeof syncProject>, string>({
      query: (id) => ({
        method: 'POST',
        path: `/projects/${encodeURIComponent(id)}/sync`,
        fallback: texts.notSynced,
      }),
      invalidatesTags: (_answer, _error, id) => ['Projects', { type: 'Project', id }],
    }),
    repositories: build.query<AnswerOf<typeof listRepositories>, void>({
      query: () => ({
        path: '/github/repos',
        query: { type: 'all', sort: 'updated', per_page: 100 },
        fallback: texts.repositoriesNotFetched,
      }),
      providesTags: ['GitHub'],
    }),
    createRepository: build.mutation<AnswerOf<typeof createRepository>, BodyInputOf<typeof createRepository>>(
      {
        query: (body) => ({
          method: 'POST',
          path: '/github/repos',
          body,
          fallback: texts.create.repositoryFailedWhy,
        }),
        invalidatesTags: ['GitHub'],
      },
    ),
  }),
})

export const {
  useProjectsQuery,
  useProjectQuery,
  useBranchesQuery,
  useCreateProjectMutation,
  useSyncProjectMutation,
  useRepositoriesQuery,
  useCreateRepositoryMutation,
} = projectsApi
