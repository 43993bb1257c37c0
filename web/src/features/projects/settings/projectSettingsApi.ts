/** Reads and changes the settings and secrets of a project, and reads facts about its repository. */
import { projectSettingsRoutes } from '#domain/api/projectSettings.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type {
  getProjectRepository,
  getProjectSettings,
  removeProjectSecret,
  setProjectSecret,
  updateProjectSettings,
} from '#domain/api/projectSettings.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'

type OfProject<Body> = { readonly projectId: string } & Body

const tagOf = (projectId: string) => ({ type: 'Project', id: `${projectId} settings` }) as const

export const projectSettingsApi = api.injectEndpoints({
  endpoints: (build) => ({
    projectSettings: build.query<AnswerOf<typeof getProjectSettings>, string>({
      query: (projectId) =>
        requestOf<typeof getProjectSettings>(projectSettingsRoutes.getProjectSettings, {
          params: { projectId },
          fallback: faults.notFetched,
        }),
      providesTags: (_answer, _error, id) => [tagOf(id)],
    }),
    projectRepository: build.query<AnswerOf<typeof getProjectRepository>, string>({
      query: (projectId) =>
        requestOf<typeof getProjectRepository>(projectSettingsRoutes.getProjectRepository, {
          params: { projectId },
          fallback: faults.notFetched,
        }),
    }),
    updateProjectSettings: build.mutation<
      AnswerOf<typeof updateProjectSettings>,
      OfProject<BodyInputOf<typeof updateProjectSettings>>
    >({
      query: ({ projectId, ...body }) =>
        requestOf<typeof updateProjectSettings>(projectSettingsRoutes.updateProjectSettings, {
          params: { projectId },
          body,
          fallback: faults.notSaved,
        }),
      invalidatesTags: (_answer, error, { projectId }) => (error === undefined ? [tagOf(projectId)] : []),
    }),
    setProjectSecret: build.mutation<
      AnswerOf<typeof setProjectSecret>,
      OfProject<BodyInputOf<typeof setProjectSecret>> & { readonly name: string }
    >({
      query: ({ projectId, name, ...body }) =>
        requestOf<typeof setProjectSecret>(projectSettingsRoutes.setProjectSecret, {
          params: { projectId, name },
          body,
          fallback: faults.notSet,
        }),
      invalidatesTags: (_answer, error, { projectId }) => (error === undefined ? [tagOf(projectId)] : []),
    }),
    removeProjectSecret: build.mutation<
      AnswerOf<typeof removeProjectSecret>,
      { readonly projectId: string; readonly name: string }
    >({
      query: ({ projectId, name }) =>
        requestOf<typeof removeProjectSecret>(projectSettingsRoutes.removeProjectSecret, {
          params: { projectId, name },
          fallback: faults.notRemoved,
        }),
      invalidatesTags: (_answer, _error, { projectId }) => [tagOf(projectId)],
    }),
  }),
})

/** A page that shows a repository reads it again if the last read is longer ago than this, in seconds. */
export const refreshAfterSeconds = 60

export const {
  useProjectSettingsQuery,
  useProjectRepositoryQuery,
  useUpdateProjectSettingsMutation,
  useSetProjectSecretMutation,
  useRemoveProjectSecretMutation,
} = projectSettingsApi

/** The messages of failed calls for a project's settings. Separate from the texts of the settings, which the page of a task does not load. */
export const faults = {
  notFetched: 'Failed to fetch settings',
  notSaved: 'Failed to save settings',
  notSet: 'Failed to save secret',
  notRemoved: 'Failed to remove secret',
} as const
