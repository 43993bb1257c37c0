/** Reads the newest tasks. Separate from `tasksApi.ts`, because the first chunk only needs this endpoint. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { listTasks } from '#domain/api/tasks.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { prefetchedTasks } from '../../api/prefetched.ts'
import { texts } from './texts.ts'

export const recentTasksApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** Used by the dashboard, the palette and desktop notifications, and for the numbers of running and of waiting tasks. */
    recentTasks: build.query<AnswerOf<typeof listTasks>, void>({
      query: () =>
        requestOf<typeof listTasks>(taskRoutes.listTasks, {
          query: { limit: prefetchedTasks },
          fallback: texts.notFetched,
        }),
      providesTags: ['Tasks'],
    }),
  }),
})
