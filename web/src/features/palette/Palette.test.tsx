// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { useLocation } from 'react-router-dom'
import { describe, expect, test, vi } from 'vitest'
import { openPage, openPart, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { projectOf, taskOf } from '../../../../tests/client/samples.ts'
import type { Answers } from '../../../../tests/client/server.ts'
import { useAction } from '../../actions/ActionsContext.tsx'
import { Palette } from './Palette.tsx'

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

// Asking jsdom for each role takes most of a test's time.
const rows = () => [...document.querySelectorAll('[role=option]')]
const labels = () => rows().map((row) => row.querySelector('.truncate')?.textContent)
const chosen = () => document.querySelector('[role=option][aria-selected=true]')
const field = () => screen.getByLabelText('Search or run a command', { selector: 'input' })
const type = (value: string) => fireEvent.change(field(), { target: { value } })
const press = (key: string, held: object = {}) => fireEvent.keyDown(field(), { key, ...held })

/** Opens an overlay by its key. The page listens for keys only some time after it was drawn, so the key is pressed until the overlay is open. */
async function openBy(key: KeyboardEventInit) {
  await waitFor(() => {
    const isOpen = () => document.querySelector('dialog[open]') !== null
    if (!isOpen()) fireEvent.keyDown(document.body, key)
    expect(isOpen()).toBe(true)
  })
}

function Where() {
  return <p data-testid="where">{useLocation().pathname}</p>
}
const where = () => screen.getByTestId('where').textContent

/** The palette on its own, with an action that is available. */
async function opened(more: Answers = {}) {
  const onClose = vi.fn<() => void>()
  const done = vi.fn<() => void>()
  function CanSync() {
    useAction('syncProject', done)
    return null
  }
  const { server } = openPart(
    <>
      <CanSync />
      <Palette onClose={onClose} />
      <Where />
    </>,
    { ...answers, ...more },
  )
  await screen.findByText('Make webhook deliveries idempotent')
  await screen.findByText('helios/web-console')
  return { server, onClose, done }
}

describe('the palette', () => {
  test('finds tasks, projects and what can be done, and marks what matched', async () => {
    const { server } = await opened()
    expect(server.of('GET /tasks').map(({ query }) => query)).toContainEqual({ limit: '500' })
    type('web')
    const groups = [...document.querySelectorAll('[role=group]')]
    expect(groups.map((group) => group.getAttribute('aria-label'))).toEqual(['Tasks', 'Projects', 'Actions'])
    expect(labels()).toEqual([
      'Make webhook deliveries idempotent',
      'Serve the web fonts ourselves',
      'helios/web-console',
      'New task in helios/web-console',
      'Open helios/web-console on GitHub',
    ])
    const marks = [...(rows()[0]?.querySelectorAll('mark') ?? [])]
    expect(marks.map(({ textContent }) => textContent)).toEqual(['web'])
    type('no such words')
    expect(screen.getAllByText('Nothing found').length).toBeGreaterThan(0)
    expect(rows()).toEqual([])
    expect(screen.getByText('No matching tasks, projects or actions.')).toBeTruthy()
  })

  test('says so when there are older tasks than it looks through', async () => {
    await opened({ 'GET /tasks': { tasks: [webhooks, fonts, other], next: 'older' } })
    type('no such words')
    expect(
      screen.getByText('No matching projects or actions, and no match in your latest 3 tasks.'),
    ).toBeTruthy()
  })

  test('is walked by the arrow keys, Home and End, around its ends', async () => {
    await opened()
    type('web')
    expect(chosen()?.textContent).toContain('Make webhook')
    press('ArrowUp')
    expect(chosen()?.textContent).toContain('Open helios')
    press('ArrowDown')
    expect(chosen()?.textContent).toContain('Make webhook')
    press('End')
    expect(chosen()?.textContent).toContain('Open helios')
    // Keys that pick a composed character are not for the list.
    press('ArrowDown', { isComposing: true })
    press('Enter', { keyCode: 229 })
    expect(chosen()?.textContent).toContain('Open helios')
    press('Home')
    press('ArrowDown')
    expect(chosen()?.textContent).toContain('fonts')
    expect(field().getAttribute('aria-activedescendant')).toBe(chosen()?.id)
  })

  test('goes where Enter leads, and with Ctrl in a new tab', async () => {
    const { onClose } = await opened()
    const inNewTab = vi.spyOn(window, 'open').mockReturnValue(null)
    type('fonts')
    press('Enter', { ctrlKey: true })
    expect(inNewTab).toHaveBeenCalledWith(`/tasks/${fonts.id}`, '_blank', 'noopener')
    inNewTab.mockRestore()
    expect([where(), onClose.mock.calls.length]).toEqual(['/', 1])
    press('Enter')
    expect([where(), onClose.mock.calls.length]).toEqual([`/tasks/${fonts.id}`, 2])
  })

  test('does what can be done, and nothing else', async () => {
    const { done } = await opened()
    type('log out')
    expect(rows()).toEqual([])
    type('sync')
    press('Enter')
    expect(done).toHaveBeenCalledOnce()
  })

  test('begins a task in a project that was found', async () => {
    await opened()
    type('task in web-console')
    press('Enter')
    expect([where(), localStorage.getItem('selectedProjectId')]).toEqual(['/dashboard', console_.id])
  })
})

test('the palette opens by its key, chooses the theme, and the settings follow', async () => {
  openPage('/settings', { answers })
  const dark = await screen.findByRole('button', { name: 'Dark' })
  await openBy({ key: 'k', ctrlKey: true })
  await screen.findByText('Theme: dark')
  type('theme dark')
  press('Enter')
  expect(document.documentElement.dataset['theme']).toBe('dark')
  expect(localStorage.getItem('theme')).toBe('dark')
  await waitFor(() => expect(dark.getAttribute('aria-pressed')).toBe('true'))
})

test('the sheet of shortcuts has every key that there is, by where it works', async () => {
  openPage('/projects', { answers })
  await screen.findByRole('heading', { level: 1 })
  await openBy({ key: '?' })
  const sheet = within(await screen.findByRole('dialog', { name: 'Shortcuts' }))
  const everywhere = within(sheet.getByRole('region', { name: 'Everywhere' }))
  expect(everywhere.getByText('Search or run a command').parentElement?.textContent).toContain('Ctrl K')
  expect(everywhere.getByText('Go to projects').parentElement?.textContent).toContain('GthenP')
  // Actions without a key are only in the palette.
  expect(sheet.queryByText('Log out')).toBeNull()
})

test('keys lead through the pages, and C to where a task is written', async () => {
  openPage('/projects', { answers })
  await screen.findByRole('heading', { level: 1, name: 'Manage Projects' })
  // The page listens for keys only after it was drawn.
  await waitFor(() => {
    fireEvent.keyDown(document.body, { key: 'g' })
    fireEvent.keyDown(document.body, { key: 's' })
    expect(screen.queryByRole('heading', { level: 1, name: 'Settings' })).toBeTruthy()
  })
  fireEvent.keyDown(document.body, { key: 'c' })
  const description = await screen.findByRole('textbox', { name: 'Task description' })
  await waitFor(() => expect(document.activeElement).toBe(description))
})

test('on the page of a task the palette offers what can be done with it', async () => {
  const task = taskOf(9, { status: 'failed', prUrl: 'https://code.example/ada/engine/pull/3', prNumber: 3 })
  const server = openPage(`/tasks/${task.id}`, { answers: { ...answers, ...openTaskAnswers(task) } })
  await screen.findByRole('heading', { level: 1, name: 'Task 9' })
  await openBy({ key: 'k', ctrlKey: true })
  const actions = within(await screen.findByRole('group', { name: 'Actions' }))
  for (const can of ['Update pull request', 'Copy branch name', 'Delete task'])
    expect(actions.getByText(can)).toBeTruthy()
  for (const cannot of ['Cancel run', 'Create pull request']) expect(actions.queryByText(cannot)).toBeNull()
  fireEvent.click(actions.getByText('Retry task'))
  await waitFor(() => expect(server.of(`POST /tasks/${task.id}/retry`)).toHaveLength(1))
})
