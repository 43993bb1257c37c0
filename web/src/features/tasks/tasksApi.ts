/** Tasks on the server: lists of them, creating and deleting one. The calls of one open task are in `task/taskApi.ts`. */
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

/** Tasks that the palette finds things in. */
const paletteTasks = 500
/** Tasks that a project page shows at first (section 9), and more each time. */
const projectTasks = 10
const moreProjectTasks = 50
/** Tasks of a project that are shown as running. */
const runningTasks = 10

export const tasksApi = api.injectEndpoints({
  endpoints: (build) => ({
    paletteTasks: build.query<AnswerOf<typeof listTasks>, void>({
      query: () =>
        requestOf<typeof listTasks>(taskRoutes.listTasks, {
          query: { limit: paletteTasks },
          fallback: texts.notFetched,
        }),
      // It is asked for once each time the palette opens: what is known shows meanwhile.
      keepUnusedDataFor: 60,
    }),
    /** Page by page; a page is named by the cursor it comes after. */
    projectTasks: build.infiniteQuery<AnswerOf<typeof listTasks>, string, string | null>({
      infiniteQueryOptions: { initialPageParam: null, getNextPageParam: ({ next }) => next },
      query: ({ queryArg: project, pageParam: after }) =>
        requestOf<typeof listTasks>(taskRoutes.listTasks, {
          query:
            after === null ? { project, limit: projectTasks } : { project, limit: moreProjectTasks, after },
          fallback: texts.notFetched,
        }),
      providesTags: ['Tasks'],
      onQueryStarted: logFailure,
    }),
    /** Those of a project that run now, wherever they stand in its list. */
    runningTasks: build.query<AnswerOf<typeof listTasks>, string>({
      query: (project) =>
        requestOf<typeof listTasks>(taskRoutes.listTasks, {
          query: { project, status: 'running', limit: runningTasks },
          fallback: texts.notFetched,
        }),
      providesTags: ['Tasks'],
      onQueryStarted: logFailure,
    }),
    createTask: build.mutation<AnswerOf<typeof createTask>, BodyInputOf<typeof createTask>>({
      query: (body) =>
        requestOf<typeof createTask>(taskRoutes.createTask, { body, fallback: texts.notCreated }),
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
      // It is gone from the lists at once, and not only when they were read again.
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
    /** Has things made ready for a task that may come. Nobody waits for it, and nobody is told when it fails. */
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

/** The newest tasks, without those that were just deleted. */
export function useRecentTasksQuery(options: { readonly skip?: boolean } = {}) {
  const { data, error, isFetching, refetch } = recentTasksApi.useRecentTasksQuery(undefined, options)
  const tasks = useNotDeleted(data?.tasks)
  return { data: tasks === undefined ? undefined : { tasks }, error, isFetching, refetch }
}

interface PaletteTasks {
  readonly tasks: readonly Task[]
  /** There are older ones than these. */
  readonly more: boolean
}

/** All that the palette can find, but what was just deleted: what is known at once, and what the server says as it comes. */
export function usePaletteTasks(): PaletteTasks {
  const { data } = tasksApi.usePaletteTasksQuery(undefined, { refetchOnMountOrArgChange: true })
  const recent = useRecentTasksQuery().data?.tasks ?? []
  const all = useNotDeleted(data?.tasks)
  // How they stand is kept up to date in the list of the newest.
  const tasks = all?.map((task) => recent.find(({ id }) => id === task.id) ?? task) ?? recent
  return { tasks, more: data !== undefined && data.next !== null }
}

/** The tasks of a project, newest first and as many as were asked for, but those that were just deleted. */
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

/** The tasks of a project that run now, but those that were just deleted. */
export function useRunningTasksQuery(projectId: string, options: { readonly skip: boolean }) {
  const { data } = tasksApi.useRunningTasksQuery(projectId, options)
  return useNotDeleted(options.skip ? undefined : data?.tasks)
}

export const { useCreateTaskMutation, usePrepareTaskMutation, useDeleteTaskMutation } = tasksApi
