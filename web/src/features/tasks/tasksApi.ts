/** Lists of tasks, and creating and deleting a task. The calls for an open task are in `task/taskApi.ts`. */
import { useMemo } from 'react'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type { prepareTask, createTask, deleteTask, listTasks, Task } from '#domain/api/tasks.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { logFailure } from '../../api/logFailure.ts'
import { useNotDeleted } from '../deletions/deletions.ts'
import { recentTasksApi } from './recentTasksApi.ts'
import { texts } from './texts.ts'

/** How many of the newest tasks the palette searches. */
const maxPaletteTasks = 500
/** How many tasks a project page shows at first (contract, section 9), and how many more each time. */
const firstPageSize = 10
const pageSize = 50
/** The most running tasks that a project page shows. */
const maxRunningTasks = 10

type ListQuery = Readonly<Partial<Record<'project' | 'status' | 'after', string>>> & {
  readonly limit: number
}

const listOf = (query: ListQuery) =>
  requestOf<typeof listTasks>(taskRoutes.listTasks, { query, fallback: texts.notFetched })

export const tasksApi = api.injectEndpoints({
  endpoints: (build) => ({
    paletteTasks: build.query<AnswerOf<typeof listTasks>, void>({
      query: () => listOf({ limit: maxPaletteTasks }),
      // The palette fetches these tasks again each time it opens, and shows the earlier answer meanwhile.
      keepUnusedDataFor: 60,
    }),
    /** The tasks of a project, cached by page. The parameter of a page is the cursor after which it begins. */
    projectTasks: build.infiniteQuery<AnswerOf<typeof listTasks>, string, string | null>({
      infiniteQueryOptions: { initialPageParam: null, getNextPageParam: ({ next }) => next },
      query: ({ queryArg: project, pageParam: after }) =>
        listOf(after === null ? { project, limit: firstPageSize } : { project, limit: pageSize, after }),
      providesTags: ['Tasks'],
      onQueryStarted: logFailure,
    }),
    /** The newest running tasks of a project, whether or not the project's list has loaded them. */
    runningTasks: build.query<AnswerOf<typeof listTasks>, string>({
      query: (project) => listOf({ project, status: 'running', limit: maxRunningTasks }),
      providesTags: ['Tasks'],
      onQueryStarted: logFailure,
    }),
    createTask: build.mutation<AnswerOf<typeof createTask>, BodyInputOf<typeof createTask>>({
      query: (body) =>
        requestOf<typeof createTask>(taskRoutes.createTask, {
          body,
          key: body.id,
          fallback: texts.notCreated,
        }),
      invalidatesTags: (answer) =>
        answer === undefined ? [] : ['Tasks', 'Projects', { type: 'Project', id: answer.task.projectId }],
    }),
    deleteTask: build.mutation<AnswerOf<typeof deleteTask>, string>({
      query: (taskId) =>
        requestOf<typeof deleteTask>(taskRoutes.deleteTask, {
          params: { taskId },
          fallback: texts.notDeleted,
          keepalive: true,
        }),
      // Removes the task from the lists at once, before they are fetched again.
      onQueryStarted: async (taskId, { dispatch, getState, queryFulfilled }) => {
        if ((await queryFulfilled.catch(() => null)) === null) return
        const leaveOut = (list: AnswerOf<typeof listTasks>) => {
          list.tasks = list.tasks.filter(({ id }) => id !== taskId)
        }
        dispatch(recentTasksApi.util.updateQueryData('recentTasks', undefined, leaveOut))
        for (const project of tasksApi.util.selectCachedArgsForQuery(getState(), 'projectTasks'))
          dispatch(
            tasksApi.util.updateQueryData('projectTasks', project, ({ pages }) => pages.forEach(leaveOut)),
          )
      },
      invalidatesTags: ['Tasks', 'Projects'],
    }),
    /** Lets the server prepare for a task that may be created. A failure is not shown. */
    prepareTask: build.mutation<
      AnswerOf<typeof prepareTask>,
      BodyInputOf<typeof prepareTask> & { readonly projectId: string }
    >({
      query: ({ projectId, ...body }) =>
        requestOf<typeof prepareTask>(taskRoutes.prepareTask, {
          params: { projectId },
          body,
          fallback: '',
        }),
    }),
  }),
})

/** The newest tasks, without recently deleted ones. */
export function useRecentTasksQuery(options: { readonly skip?: boolean } = {}) {
  const { data, error, isFetching, refetch } = recentTasksApi.useRecentTasksQuery(undefined, options)
  const tasks = useNotDeleted(data?.tasks)
  return { data: tasks === undefined ? undefined : { tasks }, error, isFetching, refetch }
}

/** The tasks that the palette searches, without recently deleted ones; `more` says whether there are older tasks. */
export function usePaletteTasks(): { readonly tasks: readonly Task[]; readonly more: boolean } {
  const { data } = tasksApi.usePaletteTasksQuery(undefined, { refetchOnMountOrArgChange: true })
  const recent = useRecentTasksQuery().data?.tasks ?? []
  const all = useNotDeleted(data?.tasks)
  // Only the list of the newest tasks has current statuses.
  const tasks = all?.map((task) => recent.find(({ id }) => id === task.id) ?? task) ?? recent
  return { tasks, more: data !== undefined && data.next !== null }
}

/** The loaded tasks of a project, newest first, without recently deleted ones. */
export function useProjectTasksQuery(projectId: string) {
  const { data, error, isFetching, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    tasksApi.useProjectTasksInfiniteQuery(projectId)
  const all = useMemo(() => data?.pages.flatMap(({ tasks }) => tasks), [data])
  const tasks = useNotDeleted(all)
  return {
    data: tasks === undefined ? undefined : { tasks },
    error,
    isFetching,
    refetch,
    hasMore: hasNextPage,
    showMore: fetchNextPage,
    isShowingMore: isFetchingNextPage,
  }
}

/** The newest running tasks of a project, without recently deleted ones; `undefined` until they are loaded, and with `skip`. */
export function useRunningTasksQuery(projectId: string, options: { readonly skip: boolean }) {
  const { data } = tasksApi.useRunningTasksQuery(projectId, options)
  return useNotDeleted(options.skip ? undefined : data?.tasks)
}

export const { useCreateTaskMutation, usePrepareTaskMutation, useDeleteTaskMutation } = tasksApi
