// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { agentStates, diffOf, fileOf, messageOf, taskOf } from '../../../../tests/client/samples.ts'
import { json, refusal, type Answers, type Asked } from '../../../../tests/client/server.ts'

const at = `/tasks/${taskOf(1).id}`
/** Opens the page of a task, and waits until it is loaded. */
async function open(over: Partial<Task> = {}, answers: Answers = {}, { narrow = false } = {}) {
  const task = taskOf(1, over)
  const server = openPage(at, { answers: { ...openTaskAnswers(task), ...answers }, narrow })
  await screen.findByRole('heading', { level: 1, name: 'Task 1' })
  return server
}
const press = (name: string) => {
  const [button] = screen.getAllByRole('button', { name })
  if (button === undefined) throw new Error(`There is no button ${name}.`)
  fireEvent.click(button)
}
/** Waits until a button is enabled, and presses it. */
const pressOnce = async (name: string) => {
  await waitFor(() => expect(screen.getByRole('button', { name })).toHaveProperty('disabled', false))
  press(name)
}
const seen = (text: string) => screen.findByText(text)

describe('cancelling', () => {
  // Holds contract 4.3d; screens 2.46d.
  test.each([
    ['pending', 0],
    ['queued', 0],
    ['running', 1],
    ['completed', 0],
    ['failed', 0],
    ['cancelled', 0],
  ] as const)('a task that is %s is offered %i times', async (status, count) => {
    await open({ status })
    expect(screen.queryAllByRole('button', { name: 'Cancel' })).toHaveLength(count)
  })

  // Holds contract 8.17a.
  test('is told as a warning, and so is that it failed', async () => {
    const server = await open({ status: 'running' }, { [`POST ${at}/cancel`]: () => refusal(500) })
    press('Cancel')
    expect(await seen('Failed to cancel execution')).toBeTruthy()
    server.answer({ [`POST ${at}/cancel`]: { task: taskOf(1, { status: 'cancelled', version: 2 }) } })
    press('Cancel')
    const toast = await seen('Command execution cancelled')
    expect(toast.closest('li')?.querySelector('.text-warn')).not.toBeNull()
    await waitFor(() => expect(screen.queryAllByRole('button', { name: 'Cancel' })).toEqual([]))
  })
})

describe('a pull request', () => {
  const url = 'https://code.example/ada/engine-1/pull/7'
  const made = taskOf(1, { prUrl: url, prNumber: 7, version: 2 })
  const pr = { pr: { html_url: url, number: 7 }, task: made }

  // Holds contract 4.16d, 8.17b.
  test('that was opened is told, the task knows it, and changes and tasks are read again', async () => {
    const server = await open(
      {},
      {
        [`POST ${at}/pr`]: pr,
        [`GET ${at}/git/diff`]: { data: diffOf({ changedFiles: [fileOf('a.txt')] }) },
      },
    )
    fireEvent.click(screen.getByRole('tab', { name: /Code Changes/ }))
    await seen('Changed Files (1)')
    const reads = () => [server.of(`GET ${at}/git/diff`).length, server.of('GET /tasks').length]
    press('Create PR')
    // The dialog reads the changes another time.
    await waitFor(() => expect(server.of(`GET ${at}/git/diff`)).toHaveLength(2))
    const before = reads()
    await pressOnce('Create pull request')
    expect(await seen('Pull request created successfully')).toBeTruthy()
    expect((await screen.findByRole('link', { name: 'Pull request #7' })).getAttribute('href')).toBe(url)
    expect((await screen.findAllByRole('button', { name: 'Update PR' })).length).toBeGreaterThan(0)
    await waitFor(() => expect(reads()).toEqual(before.map((count) => count + 1)))
  })

  // Holds contract 8.17c.
  test('that was updated is told', async () => {
    await open({ prUrl: url, prNumber: 7 }, { [`POST ${at}/pr`]: pr })
    press('Update PR')
    await pressOnce('Update pull request')
    expect(await seen('Pull request updated successfully')).toBeTruthy()
  })

  // Holds contract 8.17d.
  test.each([
    ['created', {}, 'Create', 'Failed to create pull request'],
    ['updated', { prUrl: url, prNumber: 7 }, 'Update', 'Failed to update pull request'],
  ])('that could not be %s is told', async (_, over, button, text) => {
    await open(over, { [`POST ${at}/pr`]: () => refusal(504, 'It is still being made.') })
    press(`${button} PR`)
    await pressOnce(`${button} pull request`)
    expect(await seen(text)).toBeTruthy()
    expect(await seen('It is still being made.')).toBeTruthy()
  })
})

describe('a message', () => {
  const composer = () => screen.findByRole('textbox', { name: 'Message' })
  const send = async (text: string) => {
    fireEvent.change(await composer(), { target: { value: text } })
    fireEvent.keyDown(await composer(), { key: 'Enter' })
  }
  const taken = { success: true, chatMessage: messageOf(2, { message: 'Go on', status: 'queued' }) }

  // Holds screens 2.53g.
  test('needs some text', async () => {
    const server = await open()
    await send('  ')
    expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', true)
    fireEvent.change(await composer(), { target: { value: 'Go on' } })
    expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', false)
    expect(server.of(`POST ${at}/chat`)).toEqual([])
  })

  test('is sent with its type, images and agent', async () => {
    const server = await open({}, { [`POST ${at}/chat`]: () => json(201, taken) })
    await send('Go on')
    await waitFor(() => expect(server.of(`POST ${at}/chat`)).toHaveLength(1))
    expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({
      message: 'Go on',
      messageType: 'user',
      isCommand: false,
      commandText: null,
      images: [],
      agent: 'claude',
    })
  })

  test('cannot go to an agent that cannot run', async () => {
    const server = await open(
      {},
      { [`POST ${at}/chat`]: json(201, taken), 'GET /agents': { agents: agentStates } },
    )
    const cursor = await screen.findByRole('button', { name: 'Cursor', description: 'It is not installed.' })
    fireEvent.click(cursor)
    expect(cursor.getAttribute('aria-pressed')).toBe('false')
    await send('Go on')
    await waitFor(() => expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({ agent: 'claude' }))
  })

  test('says why not to who presses the agent, by touch or by key', async () => {
    await open({}, { 'GET /agents': { agents: agentStates } })
    const cursor = await screen.findByRole('button', { name: 'Cursor', description: 'It is not installed.' })
    const why = () => screen.queryByText('It is not installed.')?.getAttribute('role')
    expect(why()).toBeUndefined()
    // A touch and the keys of a button cause a click event.
    fireEvent.click(cursor)
    expect(why()).toBe('status')
    fireEvent.blur(cursor)
    expect(why()).toBeUndefined()
    fireEvent.click(cursor)
    press('Claude')
    expect(why()).toBeUndefined()
  })

  test('goes to the agent that is chosen beside it in a narrow window, which says why another cannot be', async () => {
    const agents = agentStates.map((state) => ({
      ...state,
      missing: state.name === 'claude' ? 'It has no key.' : null,
    }))
    const server = await open(
      { agent: 'cursor' },
      { [`POST ${at}/chat`]: json(201, taken), 'GET /agents': { agents } },
      { narrow: true },
    )
    fireEvent.click(await screen.findByRole('combobox', { name: 'Agent for the next message: Cursor' }))
    const claude = await screen.findByRole('option', { name: 'Claude', description: 'It has no key.' })
    fireEvent.click(claude)
    expect(screen.getByText('It has no key.')).toBeTruthy()
    fireEvent.click(screen.getByRole('option', { name: 'Cursor' }))
    await send('Go on')
    await waitFor(() => expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({ agent: 'cursor' }))
  })

  test('is written where a turn is stopped, in a narrow window, until there is something to send', async () => {
    const stopped = { task: taskOf(1, { status: 'cancelled', version: 2 }) }
    const server = await open({ status: 'running' }, { [`POST ${at}/cancel`]: stopped }, { narrow: true })
    await composer()
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull()
    fireEvent.change(await composer(), { target: { value: 'Go on' } })
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull()
    expect(screen.getByRole('button', { name: 'Send' })).toBeTruthy()
    fireEvent.change(await composer(), { target: { value: '' } })
    press('Stop')
    await waitFor(() => expect(server.of(`POST ${at}/cancel`)).toHaveLength(1))
  })

  // Holds contract 7.24b.
  test('that is answered with anything else has the history read again', async () => {
    const server = await open({}, { [`POST ${at}/chat`]: { success: false } })
    await waitFor(() => expect(server.of(`GET ${at}/chat`)).toHaveLength(1))
    await send('Go on')
    await waitFor(() => expect(server.of(`GET ${at}/chat`)).toHaveLength(2))
  })

  // Holds contract 8.17e.
  test('that is refused says so, a command in words of its own', async () => {
    await open({}, { [`POST ${at}/chat`]: () => refusal(500) })
    await send('Go on')
    expect(await seen('Failed to send message')).toBeTruthy()
    press('Command mode')
    await send('ls')
    expect(await seen('Failed to send command')).toBeTruthy()
  })

  // Holds contract 8.17g.
  test('that is a command is told as started', async () => {
    const command = messageOf(2, { messageType: 'command', isCommand: true, commandText: 'ls' })
    const server = await open(
      {},
      { [`POST ${at}/chat`]: () => json(201, { success: true, chatMessage: command }) },
    )
    await composer()
    press('Command mode')
    await send('ls')
    expect((await seen('Command execution started')).closest('li')?.querySelector('.text-ok')).not.toBeNull()
    expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({ isCommand: true, commandText: 'ls' })
  })

  test.each([
    ['running', [], '1 message queued, sent when this turn ends'],
    ['queued', [messageOf(1, { status: 'queued' })], '1 message queued, sent when this turn ends'],
    ['failed', [messageOf(1, { status: 'queued' })], '2 messages waiting'],
  ] as const)(
    'that is a command is not told as started while it waits (%s)',
    async (status, messages, text) => {
      const command = { messageType: 'command', isCommand: true, commandText: 'ls' } as const
      const queued = ({ body }: Asked) => {
        const id = String(Reflect.get(Object(body), 'id'))
        const chatMessage = messageOf(2, { id, ...command, status: 'queued', version: 2 })
        return json(201, { success: true, chatMessage })
      }
      const server = await open(
        { status },
        { [`GET ${at}/chat`]: { messages, version: 1 }, [`POST ${at}/chat`]: queued },
      )
      await composer()
      press('Command mode')
      await send('ls')
      expect(await seen(text)).toBeTruthy()
      server.answer({ [`POST ${at}/chat`]: () => refusal(500) })
      await send('ls')
      // A later notification is shown already.
      expect(await seen('Failed to send command')).toBeTruthy()
      expect(screen.queryByText('Command execution started')).toBeNull()
    },
  )

  test.each([
    ['the reason', refusal(429, 'Too many tasks.'), 'Too many tasks.'],
    ['words of its own', refusal(500), 'Failed to execute command'],
  ])('that waits and cannot be begun is told as such, with %s', async (_, answer, reason) => {
    const waits = messageOf(1, { status: 'queued' })
    await open(
      { status: 'failed' },
      { [`GET ${at}/chat`]: { messages: [waits], version: 1 }, [`POST ${at}/execute`]: () => answer },
    )
    fireEvent.click(await screen.findByRole('button', { name: 'Send now' }))
    expect(await seen('Command execution failed')).toBeTruthy()
    expect(await seen(reason)).toBeTruthy()
  })

  // Holds contract 4.1c.
  test.each([
    ['running', '2 messages queued, sent when this turn ends'],
    // The first message is already on its way to the agent.
    ['queued', '1 message queued, sent when this turn ends'],
    ['completed', '2 messages waiting'],
    ['failed', '2 messages waiting'],
    ['cancelled', '2 messages waiting'],
  ] as const)('that waits in a task that is %s is told so: %s', async (status, text) => {
    const messages = [1, 2].map((n) => messageOf(n, { status: 'queued' }))
    await open({ status }, { [`GET ${at}/chat`]: { messages, version: 1 } })
    expect(await seen(text)).toBeTruthy()
  })

  // Holds contract 9.15; screens 2.53a.
  test('is written in a box that grows to 120 pixels, and then scrolls', async () => {
    await open()
    const box = await composer()
    fireEvent.change(box, { target: { value: 'a line\nand another' } })
    // The box is as high as the mirror of its text in the same grid cell, in a frame that scrolls.
    const [mirror, itself] = box.parentElement?.children ?? []
    expect(itself).toBe(box)
    expect(mirror?.getAttribute('data-text')).toContain('a line\nand another')
    expect(box.parentElement?.style.maxHeight).toBe('120px')
    expect(box.parentElement?.classList).toContain('overflow-y-auto')
  })
})

describe('a task that is opened', () => {
  // Holds contract 4.5.
  test('shows nothing of the one before while it is loaded', async () => {
    const [one, two] = [taskOf(1), taskOf(2)]
    const said = messageOf(1, { message: 'Words of the first' })
    const printed = {
      taskId: one.id,
      timestamp: one.createdAt,
      content: 'output of the first\n',
      type: 'stdout',
      executionId: 'e1',
      position: '5',
      version: 0,
    }
    const server = openPage('/dashboard', {
      answers: {
        'GET /tasks': { tasks: [one, two], next: null },
        ...openTaskAnswers(one),
        [`GET ${at}/chat`]: { messages: [said], version: 1 },
        [`GET ${at}/terminal`]: { output: [printed], version: 0, deltas: [] },
        ...openTaskAnswers(two),
        [`GET /tasks/${two.id}/chat`]: new Promise(() => undefined),
        [`GET /tasks/${two.id}/terminal`]: new Promise(() => undefined),
      },
    })
    fireEvent.click(await screen.findByRole('link', { name: 'Task 1' }))
    expect(await seen('Words of the first')).toBeTruthy()
    expect(await seen('1 line')).toBeTruthy()
    fireEvent.click(screen.getByRole('link', { name: 'Back to Dashboard' }))
    fireEvent.click(await screen.findByRole('link', { name: 'Task 2' }))
    await screen.findByRole('heading', { level: 1, name: 'Task 2' })
    expect(screen.queryByText('Words of the first')).toBeNull()
    expect(await seen('Loading output...')).toBeTruthy()
    for (const lines of ['0 lines', '1 line']) expect(screen.queryByText(lines)).toBeNull()
    for (const part of ['', '/chat', '/commands', '/terminal'])
      await waitFor(() => expect(server.of(`GET /tasks/${two.id}${part}`)).toHaveLength(1))
  })

  // Holds contract 8.18b.
  test.each([
    ['without a reason', refusal(500), 'Failed to load task data'],
    ['with one', refusal(503, 'A part is away.'), 'A part is away.'],
  ])('and cannot be loaded says so, %s', async (_, answer, text) => {
    openPage(at, { answers: { [`GET ${at}`]: () => answer } })
    expect(await seen('Error Loading Task')).toBeTruthy()
    expect(await seen(text)).toBeTruthy()
  })

  describe('and is pending', () => {
    afterEach(() => void vi.useRealTimers())

    // Holds contract 4.4, 9.4.
    test.each([
      ['pending', [1, 2, 2, 3]],
      ['completed', [1, 1, 1, 1]],
    ] as const)('is read again every 5 seconds, and %s: %j reads', async (status, reads) => {
      // The page's own clocks stand still until the test moves them.
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
      const server = await open({ status })
      const after = async (ms: number) => {
        await vi.advanceTimersByTimeAsync(ms)
        await new Promise((resolve) => setTimeout(resolve))
        return server.of(`GET ${at}`).length
      }
      expect([await after(4_999), await after(1), await after(4_999), await after(1)]).toEqual(reads)
    })
  })
})

describe('the divider', () => {
  const divider = async () => screen.findByRole('separator', { name: 'Chat width' })
  const position = async () => (await divider()).getAttribute('aria-valuenow')
  const move = async (key: string) => fireEvent.keyDown(await divider(), { key })

  // Holds contract 5.13, 9.16; screens 2.47b.
  test('stands at 40 percent, goes from 20 to 80, and stays where it was put', async () => {
    await open()
    expect(await position()).toBe('40')
    await move('End')
    expect(await position()).toBe('80')
    await move('ArrowRight')
    expect(await position()).toBe('80')
    await move('Home')
    await move('ArrowLeft')
    expect(await position()).toBe('20')
    expect(localStorage.getItem('splitPosition')).toBe('20')
  })

  test.each([
    ['63', '63'],
    ['95', '80'],
    ['3', '20'],
    ['wide', '40'],
  ])('that was left at %s stands at %s', async (kept, shown) => {
    localStorage.setItem('splitPosition', kept)
    await open()
    expect(await position()).toBe(shown)
  })
})

describe('the changes', () => {
  const changes = async (answer: unknown) => {
    const server = await open({}, { [`GET ${at}/git/diff`]: answer })
    fireEvent.click(screen.getByRole('tab', { name: /Code Changes/ }))
    return server
  }
  const panel = () => within(document.body)

  // Holds contract 4.15a; screens 2.56.
  test('are being loaded first', async () => {
    await changes(new Promise(() => undefined))
    expect(await panel().findByText('Loading changes')).toBeTruthy()
  })

  // Holds contract 4.15b, 8.18a; screens 2.55, 2.57, 2.58, 2.59, 2.60, 2.61, 2.62a.
  test.each([
    [
      'cannot be loaded: the reason',
      () => refusal(409, 'There is no such branch.'),
      ['Failed to Load Changes', 'There is no such branch.', 'Try Again'],
    ],
    [
      'cannot be loaded, without a reason',
      () => refusal(500),
      ['Failed to Load Changes', 'Failed to load git changes'],
    ],
    [
      'wait for the clone',
      { data: diffOf({ status: 'pending_clone' }) },
      ['Preparing Repository', 'Check Status'],
    ],
    [
      'have no repository yet',
      { data: diffOf({ status: 'not_initialized' }) },
      ['Repository Not Initialized', 'Task repository not initialized. Run a command to start.', 'Refresh'],
    ],
    ['are none', { data: diffOf() }, ['No Changes', 'flightdeck/task-1']],
    [
      'are files',
      { data: diffOf({ changedFiles: [fileOf('a.txt'), fileOf('b.txt')] }) },
      ['Changed Files (2)', '2 ahead, 1 behind trunk'],
    ],
    [
      'are no changes at all',
      { data: { status: 'ready', changedFiles: 'none' } },
      ['Invalid Data Format', 'Received unexpected data format from the server.'],
    ],
  ])('%s', async (_, answer, texts) => {
    await changes(answer)
    for (const text of texts) expect((await panel().findAllByText(text)).length).toBeGreaterThan(0)
  })
})
