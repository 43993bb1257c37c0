/** Projects on the server, and the repositories that they can be made from. */
import { limits } from '#domain/api/limits.ts'
import { projectRoutes } from '#domain/api/projects.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type {
  createProject,
  deleteProject,
  getProject,
  listBranches,
  listProjects,
  listRepositories,
  syncProject,
  updateProject,
} from '#domain/api/projects.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { useNotDeleted } from '../deletions/deletions.ts'

/** The messages of failed calls. Separate from the texts of the pages, because the dashboard makes these calls too. */
export const errorTexts = {
  notFetched: 'Failed to fetch projects',
  oneNotFetched: 'Failed to fetch project',
  branchesNotFetched: 'Failed to fetch branches',
  notCreated: 'Failed to create project',
  notSynced: 'Failed to sync project',
  notUpdated: 'Failed to update project',
  notDeleted: 'Failed to delete project',
  repositoriesNotFetched: 'Failed to fetch repositories',
} as const

const repositoriesPerPage = limits.repositoriesPage
const projectsPerPage = 1_000

type Builder = Parameters<Parameters<typeof api.injectEndpoints>[0]['endpoints']>[0]

function projectQueries(build: Builder) {
  return {
    projects: build.query<AnswerOf<typeof listProjects>, void>({
      queryFn: async (_, _api, _extra, query) => {
        const projects: AnswerOf<typeof listProjects>['projects'] = []
        for (let after: string | null = null; ;) {
          const answer = await query(
            requestOf<typeof listProjects>(projectRoutes.listProjects, {
              query: { limit: projectsPerPage, ...(after !== null && { after }) },
              fallback: errorTexts.notFetched,
            }),
          )
          if (answer.error !== undefined) return { error: answer.error }
          const more = answer.data as AnswerOf<typeof listProjects>
          projects.push(...more.projects)
          after = more.next
          if (after === null) return { data: { projects, next: null } }
        }
      },
      providesTags: ['Projects'],
    }),
    project: build.query<AnswerOf<typeof getProject>, string>({
      query: (projectId) =>
        requestOf<typeof getProject>(projectRoutes.getProject, {
          params: { projectId },
          fallback: errorTexts.oneNotFetched,
        }),
      providesTags: (_answer, _error, id) => [{ type: 'Project', id }],
    }),
    branches: build.query<AnswerOf<typeof listBranches>, string>({
      query: (id) =>
        requestOf<typeof listBranches>(projectRoutes.listBranches, {
          params: { projectId: id },
          fallback: errorTexts.branchesNotFetched,
        }),
    }),
  }
}

function projectMutations(build: Builder) {
  return {
    createProject: build.mutation<
      AnswerOf<typeof createProject>,
      BodyInputOf<typeof createProject> & { readonly key?: string }
    >({
      query: ({ key, ...body }) =>
        requestOf<typeof createProject>(projectRoutes.createProject, {
          key,
          body,
          fallback: errorTexts.notCreated,
        }),
      invalidatesTags: ['Projects'],
    }),
    updateProject: build.mutation<
      AnswerOf<typeof updateProject>,
      BodyInputOf<typeof updateProject> & { readonly projectId: string }
    >({
      query: ({ projectId, ...body }) =>
        requestOf<typeof updateProject>(projectRoutes.updateProject, {
          params: { projectId },
          body,
          fallback: errorTexts.notUpdated,
        }),
      invalidatesTags: (_answer, _error, { projectId }) => [
        'Projects',
        'Tasks',
        { type: 'Project', id: projectId },
      ],
    }),
    deleteProject: build.mutation<AnswerOf<typeof deleteProject>, string>({
      query: (id) =>
        requestOf<typeof deleteProject>(projectRoutes.deleteProject, {
          params: { projectId: id },
          fallback: errorTexts.notDeleted,
          keepalive: true,
        }),
      // Removes the project from the list at once, before the list is fetched again.
      onQueryStarted: async (projectId, { dispatch, queryFulfilled }) => {
        if ((await queryFulfilled.catch(() => null)) === null) return
        dispatch(
          projectsApi.util.updateQueryData('projects', undefined, (list) => {
            list.projects = list.projects.filter(({ id }) => id !== projectId)
          }),
        )
      },
      invalidatesTags: ['Projects'],
    }),
    syncProject: build.mutation<AnswerOf<typeof syncProject>, string>({
      query: (id) =>
        requestOf<typeof syncProject>(projectRoutes.syncProject, {
          params: { projectId: id },
          fallback: errorTexts.notSynced,
        }),
      invalidatesTags: (_answer, _error, id) => ['Projects', { type: 'Project', id }],
    }),
  }
}

/** Calls about the code host's repositories. */
function repositoryEndpoints(build: Builder) {
  return {
    repositories: build.query<AnswerOf<typeof listRepositories>, void>({
      queryFn: async (_, _api, _extra, query) => {
        const repositories: AnswerOf<typeof listRepositories>['repositories'] = []
        for (let page = 1; ; page += 1) {
          const answer = await query(
            requestOf<typeof listRepositories>(projectRoutes.listRepositories, {
              query: {
                type: 'all',
                sort: 'updated',
                per_page: repositoriesPerPage,
                ...(page > 1 && { page }),
              },
              fallback: errorTexts.repositoriesNotFetched,
            }),
          )
          if (answer.error !== undefined) return { error: answer.error }
          const more = answer.data as AnswerOf<typeof listRepositories>
          repositories.push(...more.repositories)
          if (more.repositories.length < repositoriesPerPage) return { data: { ...more, repositories } }
        }
      },
      providesTags: ['GitHub'],
    }),
  }
}

export const projectsApi = api.injectEndpoints({
  endpoints: (build) => ({
    ...projectQueries(build),
    ...projectMutations(build),
    ...repositoryEndpoints(build),
  }),
})

/** The projects of the person, without recently deleted ones. */
export function useProjectsQuery() {
  const { data, error, isFetching, refetch } = projectsApi.useProjectsQuery()
  const projects = useNotDeleted(data?.projects)
  return { data: projects === undefined ? undefined : { projects }, error, isFetching, refetch }
}

export const {
  useProjectQuery,
  useBranchesQuery,
  useCreateProjectMutation,
  useUpdateProjectMutation,
  useDeleteProjectMutation,
  useSyncProjectMutation,
  useRepositoriesQuery,
} = projectsApi
