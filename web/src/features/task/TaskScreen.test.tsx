// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../tests/client/samples.ts'
import { json, refusal, type Answers } from '../../../../tests/client/server.ts'

const at = `/tasks/${taskOf(1).id}`
const open = (over: Partial<Task> = {}, answers: Answers = {}) =>
  openPage(at, { answers: { ...openTaskAnswers(taskOf(1, over)), ...answers } })
const header = async () => within(await screen.findByRole('region', { name: 'Task' }))
const toDashboard = async () => {
  fireEvent.click(await screen.findByRole('link', { name: 'Back to Dashboard' }))
  expect(await screen.findByRole('heading', { name: 'What are we coding next?' })).toBeTruthy()
}
const never = new Promise<never>(() => undefined)

describe('the page of a task', () => {
  // Holds screens 2.45a.
  test('says that the task is being loaded', async () => {
    open({}, { [`GET ${at}`]: never })
    const loading = await screen.findByText('Loading task...')
    expect(loading.closest('.sr-only')).toBeNull()
    expect(loading.querySelector('svg')).not.toBeNull()
  })

  // Holds screens 2.45b.
  test('that could not be loaded leads back to the dashboard', async () => {
    open({}, { [`GET ${at}`]: () => refusal(500) })
    expect(await screen.findByText('Error Loading Task')).toBeTruthy()
    await toDashboard()
  })

  // Holds screens 2.45c.
  test('of a task that is not there says so, and leads back to the dashboard', async () => {
    open({}, { [`GET ${at}`]: () => refusal(404, 'There is no such task.', 'not_found') })
    expect(await screen.findByText('Task Not Found')).toBeTruthy()
    expect(screen.getByText('The requested task could not be found.')).toBeTruthy()
    await toDashboard()
  })

  test('of an address that names no task says the same, and does not offer to try again', async () => {
    const fault = { error: 'A task id is a UUID in lower case.', code: 'invalid_input', field: 'taskId' }
    open({}, { [`GET ${at}`]: () => json(400, fault) })
    expect(await screen.findByText('Task Not Found')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Try Again' })).toBeNull()
  })

  // Holds screens 2.45d.
  test('of a task that was answered with something else says that it could not be loaded', async () => {
    open({}, { [`GET ${at}`]: { data: { changedFiles: [] } } })
    expect(await screen.findByText('Task Not Found')).toBeTruthy()
    expect(screen.getByText('Task could not be loaded')).toBeTruthy()
    await toDashboard()
  })

  test.each([
    ['running', 1],
    ['completed', 0],
  ] as const)('of a task that is %s has %i cursors at the end of its terminal', async (status, cursors) => {
    const printed = {
      taskId: taskOf(1).id,
      timestamp: '2026-11-22T10:00:00.000Z',
      content: 'said\n',
      type: 'stdout',
      executionId: 'e',
      position: '1',
      version: 0,
    }
    open({ status }, { [`GET ${at}/terminal`]: { output: [printed], version: 0, deltas: [] } })
    const terminal = await screen.findByRole('log', { name: 'Terminal' })
    await screen.findByText('1 line')
    expect(terminal.querySelectorAll('.caret')).toHaveLength(cursors)
  })

  // Holds screens 2.47a.
  test('has the chat with all agents beside terminal and changes', async () => {
    open()
    const chat = within(await screen.findByRole('region', { name: 'Task Chat' }))
    const agents = within(chat.getByRole('group', { name: 'Agent for the next message' }))
    expect(agents.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
      'Claude',
      'Cursor',
      'Codex',
    ])
    const tabs = within(screen.getByRole('tablist', { name: 'Panels' })).getAllByRole('tab')
    expect(tabs.map(({ textContent }) => textContent)).toEqual([
      'Terminal',
      'Code Changes',
      'Files',
      'Shell',
      'History',
    ])
  })

  test('has the agents in a picker where the chat is too narrow for all of them', async () => {
    const width = vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(205)
    onTestFinished(() => width.mockRestore())
    open()
    const chat = within(await screen.findByRole('region', { name: 'Task Chat' }))
    expect(await chat.findByRole('combobox', { name: 'Agent for the next message: Claude' })).toBeTruthy()
    expect(chat.queryByRole('group', { name: 'Agent for the next message' })).toBeNull()
  })
})

test('text begins at the side of its own language: the title, a message, and what is being written', async () => {
  const words = '\u05E9\u05DC\u05D5\u05DD'
  const messages = [messageOf(1, { message: words })]
  open({}, { [`GET ${at}/chat`]: { messages, version: 1 } })
  expect((await screen.findByText(words)).className).toContain('[unicode-bidi:plaintext]')
  expect(screen.getByRole('heading', { level: 1 }).dir).toBe('auto')
  // The box, and the copy of its text that determines its height.
  const layers = [...(screen.getByRole('textbox', { name: 'Message' }).parentElement?.children ?? [])]
  expect(layers.map(({ className }) => className)).toEqual([
    expect.stringContaining('[unicode-bidi:plaintext]'),
    expect.stringContaining('[unicode-bidi:plaintext]'),
  ])
})

describe('its header', () => {
  // Holds screens 2.46c.
  test('shows the way back, the agent, the title, the branch, the lines and the status', async () => {
    open({ agent: 'cursor', changes: { files: 2, additions: 12, deletions: 3, recordedAt: '' } })
    const shown = await header()
    expect(shown.getByRole('link', { name: 'Back to Dashboard' }).getAttribute('href')).toBe('/dashboard')
    expect(shown.getAllByRole('img', { name: 'Cursor' }).length).toBeGreaterThan(0)
    expect(shown.getByRole('heading', { level: 1 }).textContent).toBe('Task 1')
    for (const text of ['flightdeck/task-1', '+12', '−3', '2 files'])
      expect(shown.getByText(text)).toBeTruthy()
    expect(shown.getAllByText('Completed').length).toBeGreaterThan(0)
  })

  // Holds screens 2.46a.
  test('shows the branch that git stands on, whatever its work is pushed on', async () => {
    open({ currentBranch: 'other', workingBranch: 'flightdeck/task-1' })
    const shown = await header()
    expect(shown.getByText('other')).toBeTruthy()
    expect(shown.queryByText('flightdeck/task-1')).toBeNull()
  })

  // Holds screens 2.46b.
  test('shows the branch it starts from while it has none of its own', async () => {
    open({ workingBranch: null, branch: 'release' })
    expect((await header()).getByText('release')).toBeTruthy()
  })

  const execution = (over: Partial<NonNullable<Task['execution']>>): Task['execution'] => ({
    id: 'e2',
    kind: 'command',
    turn: 2,
    requestedAt: '2026-11-22T10:00:00.000Z',
    startedAt: '2026-11-22T10:00:00.000Z',
    endedAt: '2026-11-22T10:00:02.000Z',
    steps: [],
    cancelRequested: false,
    ...over,
  })
  const statuses = async () =>
    [...(await screen.findByRole('region', { name: 'Task' })).querySelectorAll('[data-status]')].map(
      (shown) => shown.textContent,
    )

  test.each([
    ['completed', 'cancelled', ['Completed', 'Cancelled2s']],
    ['completed', 'failed', ['Completed', 'Failed2s']],
    ['failed', 'completed', ['Failed', 'Completed2s']],
  ] as const)(
    'of a task that is %s says so, and beside it that its last command %s',
    async (status, outcome, shown) => {
      const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
      open({ status, execution: execution({ outcome, startedAt: ago(3_000), endedAt: ago(1_000) }) })
      expect(new Set(await statuses())).toEqual(new Set(shown))
      expect((await header()).getAllByText('Command:').length).toBeGreaterThan(0)
    },
  )

  test('says no more of a command that ended well a minute ago', async () => {
    open({ status: 'completed', execution: execution({ outcome: 'completed' }) })
    expect(new Set(await statuses())).toEqual(new Set(['Completed']))
    expect((await header()).queryByText('Command:')).toBeNull()
  })

  // Holds contract 4.3c.
  test('says Cancelled at once when it is cancelled, and offers no more to cancel', async () => {
    const running = { status: 'running', execution: execution({ endedAt: null }) } as const
    const cancelling = execution({ endedAt: null, cancelRequested: true })
    open(running, {
      [`POST ${at}/cancel`]: { task: taskOf(1, { ...running, execution: cancelling, version: 2 }) },
    })
    const shown = await header()
    fireEvent.click(shown.getByRole('button', { name: 'Cancel' }))
    await waitFor(async () => expect(new Set(await statuses())).toEqual(new Set(['Cancelled'])))
    expect(shown.queryByRole('button', { name: 'Cancel' })).toBeNull()
  })

  test('has its buttons in sight at any width, and not in a menu', async () => {
    open({ status: 'running' })
    const shown = await header()
    for (const name of ['Cancel', 'Create PR'])
      expect(shown.getByRole('button', { name }).closest('.hidden')).toBeNull()
    fireEvent.click(shown.getByRole('button', { name: 'Task actions' }))
    expect(shown.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual([
      'Compare with another run',
      'Copy branch name',
      'Delete Task',
    ])
  })

  // Holds screens 2.46e.
  test.each([
    [null, false, 'Create PR'],
    [7, false, 'Update PR'],
    [null, true, 'Creating PR'],
    [7, true, 'Updating PR'],
  ])('of a task with pull request %s, being made: %s, has the button %s', async (prNumber, pending, name) => {
    const prUrl = prNumber === null ? null : 'https://code.example/pull/7'
    open({ prNumber, prUrl, pullRequestPending: pending })
    const button = (await header()).getByRole('button', { name })
    expect(button).toHaveProperty('disabled', pending)
  })
})
