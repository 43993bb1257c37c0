// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { Provider } from 'react-redux'
import { MemoryRouter, useLocation } from 'react-router-dom'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { clientStore } from '../../../../tests/client/page.tsx'
import { taskOf } from '../../../../tests/client/samples.ts'
import { fakeServer, json } from '../../../../tests/client/server.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { recentTasksApi } from '../tasks/recentTasksApi.ts'
import { tasksApi, useRecentTasksQuery } from '../tasks/tasksApi.ts'
import { AskToNotify } from './AskToNotify.tsx'
import { DesktopNotifications } from './DesktopNotifications.tsx'
import { NotificationsPart } from './NotificationsPart.tsx'

/** A stand-in for the browser's `Notification`. */
class Told extends EventTarget {
  static permission: NotificationPermission = 'default'
  static answer: NotificationPermission = 'granted'
  static shown: Told[] = []
  static asked = 0
  static async requestPermission() {
    Told.asked += 1
    Told.permission = Told.answer
    return Told.answer
  }
  readonly title: string
  readonly options: NotificationOptions
  constructor(title: string, options: NotificationOptions) {
    super()
    this.title = title
    this.options = options
    Told.shown.push(this)
  }
  close() {}
}

const running = taskOf(1, { status: 'running', progress: 10 })
const ended = taskOf(1, { status: 'completed', version: 2 })
const listed = (...tasks: readonly Task[]) => ({ 'GET /tasks': { tasks, next: null } })

beforeEach(() => {
  Object.assign(Told, { permission: 'default', answer: 'granted', shown: [], asked: 0 })
  vi.stubGlobal('Notification', Told)
  onTestFinished(() => {
    cleanup()
    localStorage.clear()
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })
})

function look(elsewhere: boolean) {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(elsewhere)
}

/** The offer to notify and the notifications, over a list with a running task; also a way to start a task there. */
async function opened() {
  const server = fakeServer({
    ...listed(running),
    'POST /tasks': () => json(201, { task: taskOf(2, { status: 'queued' }), position: '2' }),
  })
  localStorage.setItem(tokenKey, 'token-of-ada')
  const store = clientStore()
  render(
    <Provider store={store}>
      <MemoryRouter>
        <AskToNotify />
        <DesktopNotifications />
        <Page />
      </MemoryRouter>
    </Provider>,
  )
  const list = recentTasksApi.endpoints.recentTasks
  const read = async (...tasks: readonly Task[]) => {
    // Otherwise a read that is under way would be taken for this one.
    await waitFor(() => expect(list.select()(store.getState()).status).not.toBe('pending'))
    server.answer(listed(...tasks))
    await act(() => store.dispatch(list.initiate(undefined, { forceRefetch: true, subscribe: false })))
    await screen.findByText(tasks.map(({ id, status }) => `${id} ${status}`).join(', '))
  }
  await read(running)
  const body = { description: 'More', projectId: running.projectId, branch: 'trunk' }
  const begin = () => act(() => store.dispatch(tasksApi.endpoints.createTask.initiate(body)))
  return { begin, read }
}

/** The rest of the page: where the person is, and the statuses of the tasks. */
function Page() {
  const tasks = useRecentTasksQuery().data?.tasks ?? []
  return (
    <>
      <p>{useLocation().pathname}</p>
      <p>{tasks.map(({ id, status }) => `${id} ${status}`).join(', ')}</p>
    </>
  )
}

describe('notifications of the desktop', () => {
  test('are asked for after a task was begun and by a button, and tell of an end while nobody looks', async () => {
    look(true)
    const { begin, read } = await opened()
    expect(screen.queryByText(/Get notified when/)).toBeNull()
    await begin()
    expect(Told.asked).toBe(0)
    fireEvent.click(await screen.findByRole('button', { name: 'Turn On Notifications' }))
    await waitFor(() => expect(localStorage.getItem('desktopNotifications')).toBe('on'))
    expect(screen.queryByText(/Get notified when/)).toBeNull()
    expect([Told.asked, Told.shown.length]).toEqual([1, 0])

    await read(ended)
    expect(Told.shown.map(({ title }) => title)).toEqual(['Task 1'])
    const [told] = Told.shown
    expect(told?.options).toMatchObject({ body: 'Completed · engine-1', tag: `task-${running.id}` })
    const focus = vi.spyOn(window, 'focus').mockReturnValue(undefined)
    act(() => void told?.dispatchEvent(new Event('click')))
    expect(focus).toHaveBeenCalledOnce()
    expect(screen.getByText(`/tasks/${running.id}`)).toBeTruthy()
    // The end of a task is reported once.
    await read(ended, taskOf(3))
    expect(Told.shown).toHaveLength(1)
  })

  test('tell that a task waits for the person, each time it begins to', async () => {
    look(true)
    localStorage.setItem('desktopNotifications', 'on')
    Told.permission = 'granted'
    const { read } = await opened()
    await read({ ...running, waitingFor: 'question', version: 2 })
    await read({ ...running, waitingFor: 'question', version: 3 }, taskOf(3))
    await read({ ...running, version: 4 })
    await read({ ...running, waitingFor: 'plan', version: 5 }, taskOf(3))
    const waits = { body: 'Waiting for you · engine-1', tag: `task-${running.id}` }
    expect(Told.shown.map(({ options }) => options)).toMatchObject([waits, waits])
  })

  test.each([
    ['who looks at the page', false, 'on', 'granted'],
    ['who has turned them off', true, 'off', 'granted'],
    ['whom the browser does not let', true, 'on', 'denied'],
  ] as const)('are not shown to %s', async (_, elsewhere, wanted, permission) => {
    look(elsewhere)
    Told.permission = permission
    localStorage.setItem('desktopNotifications', wanted)
    const { read } = await opened()
    await read(ended)
    expect(Told.shown).toEqual([])
  })

  test('are not asked for again by who has said no', async () => {
    const { begin } = await opened()
    await begin()
    fireEvent.click(await screen.findByRole('button', { name: 'Not Now' }))
    await begin()
    expect(screen.queryByText(/Get notified when/)).toBeNull()
    expect([Told.asked, localStorage.getItem('desktopNotifications')]).toEqual([0, 'off'])
  })

  test('are turned on and off in the settings', async () => {
    render(<NotificationsPart />)
    const on = await screen.findByRole('button', { name: 'On' })
    fireEvent.click(on)
    await waitFor(() => expect(on.getAttribute('aria-pressed')).toBe('true'))
    fireEvent.click(screen.getByRole('button', { name: 'Off' }))
    expect(on.getAttribute('aria-pressed')).toBe('false')
    expect(localStorage.getItem('desktopNotifications')).toBe('off')
  })

  test('that the browser does not allow are told to be so', async () => {
    Told.answer = 'denied'
    render(<NotificationsPart />)
    fireEvent.click(await screen.findByRole('button', { name: 'On' }))
    expect(await screen.findByText(/Notifications are blocked/)).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'On' })).toBeNull()
  })
})
