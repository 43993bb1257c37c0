/** Keeps lists of tasks in step with what the live connection tells: statuses are patched, what is computed is fetched again. */
import { createListenerMiddleware } from '@reduxjs/toolkit'
import { api } from '../../api/api.ts'
import type { RootState } from '../../state/rootReducer.ts'
import { connectionChanged, taskStatusChanged } from '../../live/connection.ts'
import { statusOf } from './taskStatus.ts'
import { recentTasksApi } from './recentTasksApi.ts'

/** A rush of changes fetches lists at most this often, in milliseconds. */
const refetchEveryMs = 1_000

export function followStatus() {
  const listener = createListenerMiddleware<RootState>()
  let wasConnected = false
  // A list that loads for the first time is up to date; after a loss it may not be.
  listener.startListening({
    actionCreator: connectionChanged,
    effect: ({ payload }, { dispatch }) => {
      if (payload.status !== 'connected') return
      if (wasConnected) dispatch(api.util.invalidateTags(['Tasks', 'Projects']))
      wasConnected = true
    },
  })
  listener.startListening({
    actionCreator: taskStatusChanged,
    effect: async ({ payload }, { dispatch, cancelActiveListeners, delay }) => {
      dispatch(
        recentTasksApi.util.updateQueryData('recentTasks', undefined, ({ tasks }) => {
          const task = tasks.find(({ id }) => id === payload.taskId)
          if (task === undefined || task.version > payload.version) return
          task.status = statusOf(payload.status)
          task.progress = payload.progress
          task.version = payload.version
        }),
      )
      // Counts, branches and pull requests come with the lists, new tasks too: all settle in one fetch.
      cancelActiveListeners()
      await delay(refetchEveryMs)
      dispatch(api.util.invalidateTags(['Tasks', 'Projects', { type: 'Project' }]))
    },
  })
  return listener.middleware
}
