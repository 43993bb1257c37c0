/** Reading the newest tasks: apart from `tasksApi.ts`, since the first chunk needs nothing else of it. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { listTasks } from '#domain/api/tasks.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { prefetchedTasks } from '../../api/prefetched.ts'
import { texts } from './texts.ts'

export const recentTasksApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** The newest tasks; the dashboard shows eight of them, the top bar counts those that run. */
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
