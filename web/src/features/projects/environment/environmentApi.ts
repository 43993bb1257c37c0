/** Reads and rebuilds the environment of a project. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { environmentRoutes } from '#domain/api/environment.ts'
import type { getProjectEnvironment, rebuildProjectEnvironment } from '#domain/api/environment.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

const tagOf = (projectId: string) => ({ type: 'Project', id: `${projectId} environment` }) as const

const environmentApi = api.injectEndpoints({
  endpoints: (build) => ({
    projectEnvironment: build.query<AnswerOf<typeof getProjectEnvironment>, string>({
      query: (projectId) =>
        requestOf<typeof getProjectEnvironment>(environmentRoutes.getProjectEnvironment, {
          params: { projectId },
          fallback: texts.notFetched,
        }),
      providesTags: (_answer, _error, projectId) => [tagOf(projectId)],
    }),
    rebuildEnvironment: build.mutation<AnswerOf<typeof rebuildProjectEnvironment>, string>({
      query: (projectId) =>
        requestOf<typeof rebuildProjectEnvironment>(environmentRoutes.rebuildProjectEnvironment, {
          params: { projectId },
          fallback: texts.notBegun,
        }),
      invalidatesTags: (_answer, _error, projectId) => [tagOf(projectId)],
    }),
  }),
})

export const { useProjectEnvironmentQuery, useRebuildEnvironmentMutation } = environmentApi
