// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { projectOf, taskOf } from '../../../../tests/client/samples.ts'

const webhooks = taskOf(1, { title: 'Make webhook deliveries idempotent', status: 'running', progress: 40 })
const fonts = taskOf(2, { title: 'Serve the web fonts ourselves' })
const other = taskOf(3, { title: 'Pin the actions' })
const console_ = projectOf(7, { name: 'web-console', githubOwner: 'helios', githubRepoName: 'web-console' })
const answers = {
  'GET /tasks': { tasks: [webhooks, fonts, other], next: null },
  'GET /projects': { projects: [projectOf(1), console_], next: null },
  'GET /agents': { agents: [] },
  [`GET /projects/${console_.id}/branches`]: { branches: [{ name: 'trunk' }] },
}

const field = () => screen.getByRole('combobox', { name: 'Search or run a command' })
const type = (value: string) => fireEvent.change(field(), { target: { value } })
const press = (key: string, held: object = {}) => fireEvent.keyDown(field(), { key, ...held })
const rows = () => within(screen.getByRole('listbox', { name: 'Results' })).getAllByRole('option')
const labels = () => rows().map((row) => row.querySelector('.truncate')?.textContent)
const chosen = () => screen.getByRole('option', { selected: true }).textContent

async function opened(address = '/projects') {
  const server = openPage(address, { answers })
  await screen.findByRole('heading', { level: 1 })
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
  await screen.findByRole('dialog', { name: 'Search or run a command' })
  await screen.findByRole('option', { name: /webhook/ })
  return server
}

describe('the palette', () => {
  test('finds tasks, projects and what can be done, and marks what matched', async () => {
    const server = await opened()
    expect(server.of('GET /tasks').map(({ query }) => query)).toContainEqual({ limit: '500' })
    type('web')
    expect(screen.getAllByRole('group').map((group) => group.getAttribute('aria-label'))).toEqual(
      expect.arrayContaining(['Tasks', 'Projects', 'Actions']),
    )
    expect(labels()).toEqual([
      'Make webhook deliveries idempotent',
      'Serve the web fonts ourselves',
      'helios/web-console',
      'New task in helios/web-console',
      'Open helios/web-console on GitHub',
    ])
    expect([...(rows()[0]?.querySelectorAll('mark') ?? [])].map(({ textContent }) => textContent)).toEqual([
      'web',
    ])
    type('no such words')
    expect(screen.getAllByText('Nothing found').length).toBeGreaterThan(0)
  })

  test('is walked by the arrow keys, Home and End, around its ends', async () => {
    await opened()
    type('web')
    expect(chosen()).toContain('Make webhook')
    press('ArrowUp')
    expect(chosen()).toContain('Open helios')
    press('ArrowDown')
    expect(chosen()).toContain('Make webhook')
    press('End')
    expect(chosen()).toContain('Open helios')
    press('Home')
    press('ArrowDown')
    expect(chosen()).toContain('fonts')
    expect(field().getAttribute('aria-activedescendant')).toBe(
      screen.getByRole('option', { selected: true }).id,
    )
  })

  test('goes where Enter leads, and with Ctrl in a new tab', async () => {
    await opened()
    const inNewTab = vi.spyOn(window, 'open').mockReturnValue(null)
    type('fonts')
    press('Enter', { ctrlKey: true })
    expect(inNewTab).toHaveBeenCalledWith(`/tasks/${fonts.id}`, '_blank', 'noopener')
    inNewTab.mockRestore()
    await waitFor(() => expect(screen.queryByRole('option')).toBeNull())

    fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
    await screen.findByRole('option', { name: /webhook/ })
    type('go settings')
    press('Enter')
    expect(await screen.findByRole('heading', { level: 1, name: 'Settings' })).toBeTruthy()
    expect(screen.queryByRole('option')).toBeNull()
  })

  test('begins a task in a project that was found', async () => {
    await opened('/dashboard')
    type('task in web-console')
    press('Enter')
    expect(await screen.findByRole('combobox', { name: 'Project: helios/web-console' })).toBeTruthy()
  })

  test('chooses the theme, and the settings follow', async () => {
    await opened('/settings')
    type('theme dark')
    press('Enter')
    expect(document.documentElement.dataset['theme']).toBe('dark')
    expect(localStorage.getItem('theme')).toBe('dark')
    const dark = screen.getByRole('button', { name: 'Dark' })
    await waitFor(() => expect(dark.getAttribute('aria-pressed')).toBe('true'))
  })
})

test('the sheet of shortcuts has every key that there is, by where it works', async () => {
  openPage('/projects', { answers })
  await screen.findByRole('heading', { level: 1 })
  fireEvent.keyDown(document.body, { key: '?' })
  const sheet = within(await screen.findByRole('dialog', { name: 'Shortcuts' }))
  const everywhere = within(sheet.getByRole('region', { name: 'Everywhere' }))
  expect(everywhere.getByText('Search or run a command').parentElement?.textContent).toContain('Ctrl K')
  expect(everywhere.getByText('Go to the projects').parentElement?.textContent).toContain('GthenP')
  // What has no key is for the palette alone.
  expect(sheet.queryByText('Log out')).toBeNull()
})

test('keys lead through the pages, and C to where a task is written', async () => {
  openPage('/projects', { answers })
  await screen.findByRole('heading', { level: 1, name: 'Manage Projects' })
  fireEvent.keyDown(document.body, { key: 'g' })
  fireEvent.keyDown(document.body, { key: 's' })
  await screen.findByRole('heading', { level: 1, name: 'Settings' })
  fireEvent.keyDown(document.body, { key: 'c' })
  const description = await screen.findByRole('textbox', { name: 'Task description' })
  await waitFor(() => expect(document.activeElement).toBe(description))
})

test('on the page of a task the palette offers what can be done with it', async () => {
  const task = taskOf(9, { status: 'failed', prUrl: 'https://code.example/ada/engine/pull/3', prNumber: 3 })
  const server = openPage(`/tasks/${task.id}`, { answers: { ...answers, ...openTaskAnswers(task) } })
  await screen.findByRole('heading', { level: 1, name: 'Task 9' })
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
  await screen.findByRole('option', { name: /webhook/ })
  for (const [typed, offered] of [
    ['cancel', false],
    ['create pull', false],
    ['update pull', true],
    ['copy branch', true],
    ['delete task', true],
  ] as const) {
    type(typed)
    expect([typed, screen.queryAllByRole('option').length > 0]).toEqual([typed, offered])
  }
  type('try again')
  press('Enter')
  await waitFor(() => expect(server.of(`POST /tasks/${task.id}/retry`)).toHaveLength(1))
})
