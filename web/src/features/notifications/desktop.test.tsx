// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { projectOf, taskOf } from '../../../../tests/client/samples.ts'
import { json } from '../../../../tests/client/server.ts'

/** What of the browser tells something outside of the page. */
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

const project = projectOf(1)
const running = taskOf(1, { status: 'running', progress: 10 })
const ended = taskOf(1, { status: 'completed', version: 2 })
const newTask = taskOf(2, { status: 'queued', progress: 0 })
const answers = {
  'GET /tasks': { tasks: [running], next: null },
  'GET /projects': { projects: [project], next: null },
  'GET /agents': { agents: [] },
  [`GET /projects/${project.id}/branches`]: { branches: [{ name: 'trunk' }] },
  [`POST /projects/${project.id}/prepare`]: { success: true },
  'POST /tasks': () => json(201, { task: newTask, position: '2' }),
  ...openTaskAnswers(ended),
}

beforeEach(() => {
  Object.assign(Told, { permission: 'default', answer: 'granted', shown: [], asked: 0 })
  vi.stubGlobal('Notification', Told)
  onTestFinished(() => void vi.unstubAllGlobals())
})

function look(elsewhere: boolean) {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(elsewhere)
}

/** The dashboard, on which a task is begun. Its list is read again then. */
async function begun(nowListed: readonly object[] = [newTask, running]) {
  localStorage.setItem('selectedProjectId', project.id)
  const server = openPage('/dashboard', { answers })
  await screen.findByRole('link', { name: 'Task 1' })
  const description = screen.getByRole('textbox', { name: 'Task description' })
  fireEvent.change(description, { target: { value: 'Task 2' } })
  const start = screen.getByRole('button', { name: 'Start Coding' })
  await waitFor(() => expect(start).toHaveProperty('disabled', false))
  server.answer({ 'GET /tasks': { tasks: nowListed, next: null } })
  fireEvent.click(start)
  await screen.findByRole('link', { name: 'Task 2' })
  return server
}

describe('notifications of the desktop', () => {
  test('are asked for after a task was begun and by a button, and tell of an end while nobody looks', async () => {
    look(true)
    const server = await begun()
    expect(Told.asked).toBe(0)
    fireEvent.click(screen.getByRole('button', { name: 'Turn on notifications' }))
    await waitFor(() => expect(localStorage.getItem('desktopNotifications')).toBe('on'))
    expect(screen.queryByText(/Do you want to be told/)).toBeNull()
    expect([Told.asked, Told.shown.length]).toEqual([1, 0])

    server.answer({ 'GET /tasks': { tasks: [newTask, ended], next: null } })
    await begunAgain()
    await waitFor(() => expect(Told.shown.map(({ title }) => title)).toEqual(['Task 1']))
    const [told] = Told.shown
    expect(told?.options).toMatchObject({ body: 'Completed · engine-1', tag: `task-${running.id}` })
    const focus = vi.spyOn(window, 'focus').mockReturnValue(undefined)
    act(() => void told?.dispatchEvent(new Event('click')))
    expect(focus).toHaveBeenCalledOnce()
    expect(await screen.findByRole('heading', { level: 1, name: 'Task 1' })).toBeTruthy()
  })

  test('are not shown to who looks at the page', async () => {
    Told.permission = 'granted'
    localStorage.setItem('desktopNotifications', 'on')
    look(false)
    await begun([newTask, ended])
    await screen.findAllByText('Completed')
    expect(Told.shown).toEqual([])
  })

  test('are not asked for again by who has said no', async () => {
    await begun()
    fireEvent.click(screen.getByRole('button', { name: 'Not now' }))
    expect(screen.queryByText(/Do you want to be told/)).toBeNull()
    expect([Told.asked, localStorage.getItem('desktopNotifications')]).toEqual([0, 'off'])
  })

  test('are turned on and off in the settings', async () => {
    openPage('/settings', { answers })
    const on = await screen.findByRole('button', { name: 'On' })
    fireEvent.click(on)
    await waitFor(() => expect(on.getAttribute('aria-pressed')).toBe('true'))
    fireEvent.click(screen.getByRole('button', { name: 'Off' }))
    expect(on.getAttribute('aria-pressed')).toBe('false')
    expect(localStorage.getItem('desktopNotifications')).toBe('off')
  })

  test('that the browser does not allow are told to be so', async () => {
    Told.answer = 'denied'
    openPage('/settings', { answers })
    fireEvent.click(await screen.findByRole('button', { name: 'On' }))
    expect(await screen.findByText(/This browser does not allow notifications/)).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'On' })).toBeNull()
  })
})

/** Another task: the list is read again. */
async function begunAgain() {
  fireEvent.change(screen.getByRole('textbox', { name: 'Task description' }), { target: { value: 'More' } })
  const start = screen.getByRole('button', { name: 'Start Coding' })
  await waitFor(() => expect(start).toHaveProperty('disabled', false))
  fireEvent.click(start)
}
