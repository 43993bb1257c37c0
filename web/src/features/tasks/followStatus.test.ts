// @vitest-environment jsdom
import { configureStore } from '@reduxjs/toolkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { taskOf } from '../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../tests/client/server.ts'
import { api } from '../../api/api.ts'
import { initialSession } from '../../api/session.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { connectionChanged, taskStatusChanged } from '../../live/connection.ts'
import { rootReducer } from '../../state/rootReducer.ts'
import { followStatus } from './followStatus.ts'
import { recentTasksApi } from './recentTasksApi.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  localStorage.clear()
})

const task = taskOf(1, { status: 'running', version: 1 })
const told = { taskId: task.id, status: 'running', position: '1', commandId: '1' } as const

/** A list that was read before the live connection was established. */
async function opened() {
  localStorage.setItem(tokenKey, 'token-of-ada')
  const server = fakeServer({ 'GET /tasks': { tasks: [task], next: null } })
  const store = configureStore({
    reducer: rootReducer,
    preloadedState: { session: { ...initialSession, signedIn: true } },
    middleware: (defaults) => defaults().prepend(followStatus()).concat(api.middleware),
  })
  await store.dispatch(recentTasksApi.endpoints.recentTasks.initiate())
  const listed = () => recentTasksApi.endpoints.recentTasks.select()(store.getState()).data?.tasks[0]
  return { server, store, listed }
}

describe('the list of tasks', () => {
  test('is read again once the connection stands: nothing told what changed before', async () => {
    const { server, store, listed } = await opened()
    expect(listed()).toMatchObject({ status: 'running' })
    server.answer({ 'GET /tasks': { tasks: [taskOf(1, { status: 'completed', version: 9 })], next: null } })
    store.dispatch(connectionChanged('connected'))
    await vi.advanceTimersByTimeAsync(2_000)
    expect(listed()).toMatchObject({ status: 'completed' })
  })

  test('is read again at once when a lost connection is back', async () => {
    const { server, store } = await opened()
    store.dispatch(connectionChanged('connected'))
    await vi.advanceTimersByTimeAsync(2_000)
    const before = server.of('GET /tasks').length
    store.dispatch(connectionChanged('disconnected'))
    store.dispatch(connectionChanged('connected'))
    await vi.advanceTimersByTimeAsync(100)
    expect(server.of('GET /tasks')).toHaveLength(before + 1)
  })

  test('shows a status that is told, and is read once after a rush of them', async () => {
    const { server, store, listed } = await opened()
    const before = server.of('GET /tasks').length
    for (const progress of [20, 40, 60])
      store.dispatch(taskStatusChanged({ ...told, progress, version: progress }))
    expect(listed()).toMatchObject({ progress: 60, version: 60 })
    expect(server.of('GET /tasks')).toHaveLength(before)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(server.of('GET /tasks')).toHaveLength(before + 1)
    expect(server.of('GET /tasks').at(-1)?.query).toMatchObject({ minPosition: told.position })
  })
  test('is read again also while statuses never stop coming', async () => {
    const { server, store } = await opened()
    store.dispatch(connectionChanged('connected'))
    const before = server.of('GET /tasks').length
    for (let version = 2; version < 12; version += 1) {
      store.dispatch(taskStatusChanged({ ...told, progress: version, version }))
      await vi.advanceTimersByTimeAsync(500)
    }
    expect(server.of('GET /tasks').length).toBeGreaterThanOrEqual(before + 4)
  })
})
