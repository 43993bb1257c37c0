// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ada, taskOf } from '../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../tests/client/server.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { authApi } from '../../features/auth/authApi.ts'
import { recentTasksApi } from '../../features/tasks/recentTasksApi.ts'
import { firstRenderReady } from './firstRender.ts'
import { aboutServerApi } from '../../api/aboutServerApi.ts'
import { createStore } from '../store.ts'

beforeEach(() => {
  vi.useFakeTimers()
  localStorage.setItem(tokenKey, 'token-of-ada')
})
afterEach(() => {
  vi.useRealTimers()
  localStorage.clear()
})

const load = vi.fn<(pathname: string) => Promise<void>>(async () => undefined)
afterEach(() => load.mockReset())
const never = new Promise<never>(() => undefined)
const tasks = { tasks: [taskOf(1)], next: null }
const notices = { notices: ['No model key is set: agents cannot answer.'] }

/** Begins to wait at the dashboard. */
function waiting(answers: Parameters<typeof fakeServer>[0]) {
  const server = fakeServer(answers)
  const { store } = createStore(true)
  const isOver = vi.fn<() => void>()
  void firstRenderReady(store, '/dashboard', load).then(isOver)
  return { server, store, isOver }
}

test('the page, who looks at it, their tasks and the notices above them are there when it is drawn', async () => {
  const { server, store, isOver } = waiting({
    'GET /auth/me': { user: ada },
    'GET /tasks': tasks,
    'GET /notices': notices,
  })
  await vi.advanceTimersByTimeAsync(10)
  expect(isOver).toHaveBeenCalled()
  expect(load).toHaveBeenCalledExactlyOnceWith('/dashboard')
  expect(server.asked.map(({ path }) => path)).toEqual(['/auth/me', '/tasks', '/notices'])
  expect(authApi.endpoints.me.select()(store.getState()).data).toEqual({ user: ada })
  expect(recentTasksApi.endpoints.recentTasks.select()(store.getState()).data).toEqual(tasks)
  expect(aboutServerApi.endpoints.notices.select()(store.getState()).data).toEqual(notices)
})

test.each([
  ['who looks at it', { 'GET /auth/me': never }],
  ['their tasks', { 'GET /auth/me': { user: ada }, 'GET /tasks': never, 'GET /notices': notices }],
  ['the notices', { 'GET /auth/me': { user: ada }, 'GET /tasks': tasks, 'GET /notices': never }],
])('it does not wait for %s for longer than 300 ms', async (_, answers) => {
  const { isOver } = waiting(answers)
  await vi.advanceTimersByTimeAsync(299)
  expect(isOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(isOver).toHaveBeenCalled()
})

test('nor for the page itself', async () => {
  load.mockReturnValue(never)
  const { isOver } = waiting({ 'GET /auth/me': { user: ada }, 'GET /tasks': tasks, 'GET /notices': notices })
  await vi.advanceTimersByTimeAsync(300)
  expect(isOver).toHaveBeenCalled()
})

test('the tasks of a newcomer are not asked for', async () => {
  const { server, isOver } = waiting({ 'GET /auth/me': { user: { ...ada, onboardingCompleted: false } } })
  await vi.advanceTimersByTimeAsync(10)
  expect(isOver).toHaveBeenCalled()
  expect(server.of('GET /tasks')).toEqual([])
})

test('for who is not signed in nothing is asked', async () => {
  localStorage.clear()
  const { server, isOver } = waiting({})
  await vi.advanceTimersByTimeAsync(0)
  expect(isOver).toHaveBeenCalled()
  expect([server.asked, load.mock.calls]).toEqual([[], []])
})
