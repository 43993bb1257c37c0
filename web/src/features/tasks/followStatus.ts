/** Keeps lists of tasks in step with what the live connection tells: statuses are patched, what is computed is fetched again. */
import { createListenerMiddleware, isAnyOf } from '@reduxjs/toolkit'
import { api } from '../../api/api.ts'
import type { RootState } from '../../state/rootReducer.ts'
import { connectionChanged, taskStatusChanged } from '../../live/connection.ts'
import { statusOf } from './taskStatus.ts'
import { recentTasksApi } from './recentTasksApi.ts'

/** A rush of changes fetches lists at most this often, in milliseconds. */
const refetchEveryMs = 1_000

export function followStatus() {
  const listener = createListenerMiddleware<RootState>()
  const fetchLists = () => api.util.invalidateTags(['Tasks', 'Projects', { type: 'Project' }])
  let wasConnected = false
  let isWaiting = false
  listener.startListening({
    matcher: isAnyOf(connectionChanged, taskStatusChanged),
    effect: async (action, { dispatch, delay }) => {
      if (taskStatusChanged.match(action))
        dispatch(
          recentTasksApi.util.updateQueryData('recentTasks', undefined, ({ tasks }) => {
            const { taskId, status, progress, version } = action.payload
            const task = tasks.find(({ id }) => id === taskId)
            if (task === undefined || task.version > version) return
            Object.assign(task, { status: statusOf(status), progress, version })
          }),
        )
      else if (!connectionChanged.match(action) || action.payload.status !== 'connected') return
      else if (wasConnected) dispatch(fetchLists())
      else wasConnected = true
      // Counts, branches and pull requests come with the lists, new tasks too: all settle in one fetch.
      // So does what changed before the connection stood, of which nothing is told: the first lists were read before it.
      if (isWaiting) return
      isWaiting = true
      await delay(refetchEveryMs)
      isWaiting = false
      dispatch(fetchLists())
    },
  })
  return listener.middleware
}
