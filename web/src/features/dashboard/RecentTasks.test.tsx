// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { openPage, openPart, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { taskOf } from '../../../../tests/client/samples.ts'
import { connectionChanged } from '../../live/connection.ts'
import { TaskRow } from '../tasks/TaskRow.tsx'

async function rowOf(over: Partial<Task>) {
  const task = taskOf(1, over)
  openPage('/dashboard', {
    answers: { 'GET /tasks': { tasks: [task], next: null }, ...openTaskAnswers(task) },
  })
  const list = await screen.findByRole('region', { name: 'Recent Tasks' })
  return within(await within(list).findByRole('listitem'))
}

describe('a recent task', () => {
  // Holds screens 2.33c, 2.33e.
  test('shows its status, description, agent, repository, branch, lines, date and pull request', async () => {
    const row = await rowOf({
      status: 'running',
      progress: 40,
      description: 'Count the lines\nof each file',
      agent: 'cursor',
      createdAt: '2026-11-20T12:00:00.000Z',
      prUrl: 'https://code.example/ada/engine-1/pull/7',
      prNumber: 7,
      changes: { files: 1, additions: 12, deletions: 3, recordedAt: '' },
    })
    expect(row.getByText('Running')).toBeTruthy()
    const description = row.getByText(/Count the lines/)
    expect(description.className).toContain('line-clamp-2')
    expect(row.getByRole('img', { name: 'Cursor' })).toBeTruthy()
    for (const text of ['ada/engine-1', 'task-1', '+12', '−3', 'Nov 20'])
      expect(row.getByText(text)).toBeTruthy()
    const pull = row.getByRole('link', { name: 'Pull request #7' })
    expect(pull.getAttribute('href')).toBe('https://code.example/ada/engine-1/pull/7')
    expect(row.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('40')
  })

  test('that ran when the connection was lost is only last known to run', () => {
    const task = taskOf(1, { status: 'running', progress: 40 })
    const { store } = openPart(<TaskRow task={task} when="Nov 20" />)
    const row = within(screen.getByRole('listitem'))
    // The first attempt to connect is not a lost connection.
    expect(row.queryByText('Last known:')).toBeNull()
    act(() => void store.dispatch(connectionChanged('disconnected')))
    expect(row.getByText('Last known:').nextElementSibling?.textContent).toBe('Running')
    expect(row.queryByRole('progressbar')).toBeNull()
    act(() => void store.dispatch(connectionChanged('connected')))
    expect(row.queryByText('Last known:')).toBeNull()
  })

  // Holds findings 1.118.
  test('recorder H7: whose record is damaged says so, and shows nothing that goes on', () => {
    const unreadable = { revision: 7, reason: 'wrong_shape' } as const
    openPart(<TaskRow task={taskOf(1, { status: 'running', progress: 40, unreadable })} when="Nov 20" />)
    const row = within(screen.getByRole('listitem'))
    expect(row.getByText('Record damaged')).toBeTruthy()
    expect(row.queryByText('Running')).toBeNull()
    expect(row.queryByRole('progressbar')).toBeNull()
  })

  // Holds screens 2.33f.
  test('is opened by a click', async () => {
    const row = await rowOf({})
    fireEvent.click(row.getByRole('link', { name: 'Task 1' }))
    expect(await screen.findByRole('heading', { level: 1, name: 'Task 1' })).toBeTruthy()
  })
})

// Holds screens 2.33b.
test('where there is no task yet, it says how to begin', async () => {
  openPage('/dashboard')
  expect(await screen.findByText('No tasks yet')).toBeTruthy()
  expect(screen.getByText('Create your first task to get started with AI-powered development')).toBeTruthy()
})

// Holds screens 2.34.
test('nothing is loaded before it is known who is there', async () => {
  let known: (answer: unknown) => void = () => undefined
  const server = openPage('/dashboard', {
    answers: { 'GET /auth/me': new Promise((resolve) => (known = resolve)) },
  })
  await screen.findAllByRole('status')
  expect(server.asked.filter(({ path }) => path !== '/auth/me')).toEqual([])
  const { ada } = await import('../../../../tests/client/samples.ts')
  known({ user: ada })
  expect(await screen.findByText('No tasks yet')).toBeTruthy()
  expect(server.of('GET /projects').length).toBeGreaterThan(0)
})
