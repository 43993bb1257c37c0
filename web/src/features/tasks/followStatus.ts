/** Updates lists of tasks from the live connection: statuses are changed in place, and everything else, such as counts, is fetched again. */
import { createListenerMiddleware, isAnyOf } from '@reduxjs/toolkit'
import type { Position } from '#domain/kernel/event.ts'
import { api } from '../../api/api.ts'
import { readsAwait } from '../../api/session.ts'
import type { RootState } from '../../state/rootReducer.ts'
import { connectionChanged, taskStatusChanged } from '../../live/connection.ts'
import { statusOf } from './taskStatus.ts'
import { recentTasksApi } from './recentTasksApi.ts'

/** While statuses change, the lists are fetched at most once in this time, in milliseconds. After a reconnection they are also fetched at once. */
const minIntervalMs = 1_000

export function followStatus() {
  const listener = createListenerMiddleware<RootState>()
  const fetchLists = () => api.util.invalidateTags(['Tasks', 'Projects', { type: 'Project' }])
  let latest: Position | undefined
  let wasConnected = false
  let isWaiting = false
  listener.startListening({
    matcher: isAnyOf(connectionChanged, taskStatusChanged),
    effect: async (action, { dispatch, delay }) => {
      if (taskStatusChanged.match(action)) {
        latest = action.payload.position
        dispatch(
          recentTasksApi.util.updateQueryData('recentTasks', undefined, ({ tasks }) => {
            const { taskId, status, progress, version } = action.payload
            const task = tasks.find(({ id }) => id === taskId)
            if (task === undefined || task.version > version) return
            Object.assign(task, { status: statusOf(status), progress, version })
          }),
        )
      } else if (!connectionChanged.match(action) || action.payload.status !== 'connected') return
      else if (wasConnected) dispatch(fetchLists())
      else wasConnected = true
      // Actions in quick succession cause one fetch of the lists. It brings new tasks, counts, branches and pull requests, also from before the
      // connection began.
      if (isWaiting) return
      isWaiting = true
      await delay(minIntervalMs)
      isWaiting = false
      // A status can arrive before the lists show it.
      if (latest !== undefined) dispatch(readsAwait(latest))
      dispatch(fetchLists())
    },
  })
  return listener.middleware
}
