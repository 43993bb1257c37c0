/** Tasks on the server. */
import type { AnswerOf } from '#domain/api/call.ts'
import type { listTasks } from '#domain/api/tasks.ts'
import { api } from '../../api/api.ts'
import { texts } from './texts.ts'

export const tasksApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** The newest tasks; the dashboard shows eight of them, the top bar counts those that run. */
    recentTasks: build.query<AnswerOf<typeof listTasks>, void>({
      query: () => ({ path: '/tasks', query: { limit: 50 }, fallback: texts.notFetched }),
      providesTags: ['Tasks'],
    }),
  }),
})

export const { useRecentTasksQuery } = tasksApi
