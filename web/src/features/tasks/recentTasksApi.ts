/** The newest tasks, and creating one: apart from `tasksApi.ts`, since the first chunk needs them. */
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type { createTask, listTasks } from '#domain/api/tasks.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { prefetchedTasks } from '../../api/prefetched.ts'
import { useNotDeleted } from '../deletions/deletions.ts'
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
    createTask: build.mutation<AnswerOf<typeof createTask>, BodyInputOf<typeof createTask>>({
      query: (body) =>
        requestOf<typeof createTask>(taskRoutes.createTask, { body, fallback: texts.notCreated }),
      invalidatesTags: (answer) =>
        answer === undefined ? [] : ['Tasks', 'Projects', { type: 'Project', id: answer.task.projectId }],
    }),
  }),
})

/** The newest tasks, without those that were just deleted. */
export function useRecentTasksQuery(options: { readonly skip?: boolean } = {}) {
  const { data, error, isFetching, refetch } = recentTasksApi.useRecentTasksQuery(undefined, options)
  const tasks = useNotDeleted(data?.tasks)
  return { data: tasks === undefined ? undefined : { tasks }, error, isFetching, refetch }
}

export const { useCreateTaskMutation } = recentTasksApi
