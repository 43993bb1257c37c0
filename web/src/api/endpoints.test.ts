// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientStore } from '../../../tests/client/page.tsx'
import { fakeServer, refusal } from '../../../tests/client/server.ts'
import { authApi } from '../features/auth/authApi.ts'
import { onboardingApi } from '../features/onboarding/Onboarding.tsx'
import { projectsApi } from '../features/projects/projectsApi.ts'
import { settingsApi } from '../features/settings/settingsApi.ts'
import { taskApi } from '../features/task/taskApi.ts'
import { readTerminal } from '../features/task/terminal/log/readTerminal.ts'
import { recentTasksApi } from '../features/tasks/recentTasksApi.ts'
import { tasksApi } from '../features/tasks/tasksApi.ts'
import { tokenKey } from './tokenStore.ts'

const store = () => clientStore()
type Store = ReturnType<typeof store>
const history = { taskId: 't1', minPosition: undefined }
const once = { subscribe: false } as const
const onboarding = { fullName: 'Ada', companySize: 'solo', role: 'cto' } as const
const newTask = { description: 'Words', projectId: 'p1', branch: 'main' }

/** Every call whose failure has a message of its own (contract, section 8): the message, the call, and how to make the call. */
const calls: readonly (readonly [words: string, call: string, ask: (to: Store) => Promise<unknown>])[] = [
  [
    'Profile update failed',
    'PUT /auth/profile',
    (to) => to.dispatch(settingsApi.endpoints.updateProfile.initiate({})),
  ],
  [
    'Failed to disconnect GitHub',
    'POST /auth/disconnect-github',
    (to) => to.dispatch(settingsApi.endpoints.disconnectGitHub.initiate()),
  ],
  [
    'Onboarding completion failed',
    'POST /auth/complete-onboarding',
    (to) => to.dispatch(onboardingApi.endpoints.completeOnboarding.initiate(onboarding)),
  ],
  [
    'Failed to fetch projects',
    'GET /projects',
    (to) => to.dispatch(projectsApi.endpoints.projects.initiate(undefined, once)),
  ],
  [
    'Failed to fetch project',
    'GET /projects/p1',
    (to) => to.dispatch(projectsApi.endpoints.project.initiate('p1', once)),
  ],
  [
    'Failed to fetch branches',
    'GET /projects/p1/branches',
    (to) => to.dispatch(projectsApi.endpoints.branches.initiate('p1', once)),
  ],
  [
    'Failed to create project',
    'POST /projects',
    (to) => to.dispatch(projectsApi.endpoints.createProject.initiate({ repoUrl: 'x' })),
  ],
  [
    'Failed to update project',
    'PUT /projects/p1',
    (to) => to.dispatch(projectsApi.endpoints.updateProject.initiate({ projectId: 'p1', name: 'x' })),
  ],
  [
    'Failed to delete project',
    'DELETE /projects/p1',
    (to) => to.dispatch(projectsApi.endpoints.deleteProject.initiate('p1')),
  ],
  [
    'Failed to sync project',
    'POST /projects/p1/sync',
    (to) => to.dispatch(projectsApi.endpoints.syncProject.initiate('p1')),
  ],
  [
    'Failed to fetch tasks',
    'GET /tasks',
    (to) => to.dispatch(recentTasksApi.endpoints.recentTasks.initiate(undefined, once)),
  ],
  [
    'Failed to fetch task',
    'GET /tasks/t1',
    (to) => to.dispatch(taskApi.endpoints.task.initiate(history, once)),
  ],
  [
    'Failed to send message',
    'POST /tasks/t1/chat',
    (to) => to.dispatch(taskApi.endpoints.sendMessage.initiate({ taskId: 't1', body: {} })),
  ],
  [
    'Failed to fetch chat history',
    'GET /tasks/t1/chat',
    (to) => to.dispatch(taskApi.endpoints.chat.initiate(history, once)),
  ],
  [
    'Failed to execute command',
    'POST /tasks/t1/execute',
    (to) => to.dispatch(taskApi.endpoints.executeTask.initiate('t1')),
  ],
  [
    'Failed to cancel execution',
    'POST /tasks/t1/cancel',
    (to) => to.dispatch(taskApi.endpoints.cancelTask.initiate('t1')),
  ],
  [
    'Failed to fetch command logs',
    'GET /tasks/t1/commands',
    (to) => to.dispatch(taskApi.endpoints.commands.initiate(history, once)),
  ],
  [
    'Failed to create task',
    'POST /tasks',
    (to) => to.dispatch(tasksApi.endpoints.createTask.initiate(newTask)),
  ],
  [
    'Failed to retry task',
    'POST /tasks/t1/retry',
    (to) => to.dispatch(taskApi.endpoints.retryTask.initiate('t1')),
  ],
]

beforeEach(() => localStorage.setItem(tokenKey, 'token-1'))
afterEach(() => localStorage.clear())

describe('where the server gives no reason', () => {
  // Holds contract 8.9c, 8.9d, 8.9e, 8.9g.
  test.each(calls)('it is said: %s (%s)', async (words, call, ask) => {
    const server = fakeServer({ [call]: () => refusal(500) })
    expect(await ask(store())).toMatchObject({ error: { message: words } })
    expect(server.of(call)).toHaveLength(1)
  })

  // Holds contract 8.9f.
  test('it is said of the terminal: Failed to fetch terminal output', async () => {
    fakeServer({ 'GET /tasks/t1/terminal': () => refusal(500) })
    expect(await readTerminal('t1', undefined, new AbortController().signal)).toEqual({
      reason: 'Failed to fetch terminal output',
    })
  })
})

// Holds contract 8.9a.
test('the reason that the server gives is said instead', async () => {
  for (const [, call, ask] of calls) {
    fakeServer({ [call]: () => refusal(422, `No ${call}.`) })
    expect(await ask(store())).toMatchObject({ error: { message: `No ${call}.` } })
  }
})

describe('what a page goes on without is logged when it fails', () => {
  const logged: readonly (readonly [words: string, call: string, ask: () => Promise<unknown>])[] = [
    ...calls.flatMap(([words, call, ask]) =>
      ['Failed to fetch chat history', 'Failed to fetch command logs'].includes(words)
        ? [[words, call, () => ask(store())] as const]
        : [],
    ),
    [
      'Failed to fetch tasks',
      'GET /tasks',
      () => store().dispatch(tasksApi.endpoints.projectTasks.initiate('p1', once)),
    ],
    [
      'Failed to fetch terminal output',
      'GET /tasks/t1/terminal',
      () => readTerminal('t1', undefined, new AbortController().signal),
    ],
  ]

  // Holds contract 8.10c.
  test.each(logged)('%s (%s)', async (words, call, ask) => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined)
    fakeServer({ [call]: () => refusal(500) })
    await ask()
    await vi.waitFor(() => expect(warned.mock.calls).toEqual([[words]]))
    warned.mockRestore()
  })
})

// Holds contract 6.1b, 7.1c.
test('every call carries the token from local storage as a bearer', async () => {
  const server = fakeServer({})
  for (const [, , ask] of calls) await ask(store())
  await readTerminal('t1', undefined, new AbortController().signal)
  expect(server.asked).toHaveLength(calls.length + 1)
  for (const { authorization } of server.asked) expect(authorization).toBe('Bearer token-1')
})

// Holds contract 5.10a, 5.11.
test('without a stored token a task is neither changed nor deleted: Authentication token not found', async () => {
  localStorage.clear()
  const server = fakeServer({})
  const answer = await store().dispatch(tasksApi.endpoints.deleteTask.initiate('t1'))
  expect(answer).toMatchObject({ error: { message: 'Authentication token not found' } })
  for (const [, , ask] of calls)
    expect(await ask(store())).toMatchObject({ error: { message: 'Authentication token not found' } })
  expect(server.asked).toEqual([])
})

// Holds contract 4.14b.
test('a deleted task is out of every list at once', async () => {
  const tasks = [{ id: 't1' }, { id: 't2' }]
  const server = fakeServer({ 'GET /tasks': { tasks, next: null }, 'DELETE /tasks/t1': { success: true } })
  const lists = store()
  const recent = recentTasksApi.endpoints.recentTasks
  const ofProject = tasksApi.endpoints.projectTasks
  await Promise.all([lists.dispatch(recent.initiate()), lists.dispatch(ofProject.initiate('p1'))])
  // The lists cannot be read again, so they show what the client knows.
  server.answer({ 'GET /tasks': () => refusal(503) })
  await lists.dispatch(tasksApi.endpoints.deleteTask.initiate('t1'))
  const left = [{ id: 't2' }]
  expect(recent.select()(lists.getState()).data?.tasks).toEqual(left)
  expect(
    ofProject
      .select('p1')(lists.getState())
      .data?.pages.map((page) => page.tasks),
  ).toEqual([left])
})

describe('who is signed in', () => {
  const me = authApi.endpoints.me

  // Holds contract 4.9b.
  test('is asked for with the token, and the token goes when the server refuses them', async () => {
    const server = fakeServer({ 'GET /auth/me': () => refusal(404) })
    const session = store()
    await session.dispatch(me.initiate())
    expect(server.of('GET /auth/me')[0]?.authorization).toBe('Bearer token-1')
    expect(localStorage.getItem(tokenKey)).toBeNull()
    expect(session.getState().session).toMatchObject({ signedIn: false, end: 'lost' })
  })

  test.each([
    ['cannot be reached', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['has a fault', () => refusal(500)],
    ['is down', () => refusal(503)],
    ['is busy', () => refusal(429)],
  ])('keeps the token while the server %s', async (_, answer) => {
    fakeServer({ 'GET /auth/me': answer })
    const session = store()
    await session.dispatch(me.initiate())
    expect(localStorage.getItem(tokenKey)).toBe('token-1')
    expect(session.getState().session.signedIn).toBe(true)
  })
})
