// @vitest-environment jsdom
import { act, fireEvent, renderHook, screen, waitFor, within } from '@testing-library/react'
import { useState } from 'react'
import { Provider } from 'react-redux'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { executionId, messageId } from '../../../../../tests/domain/ids.ts'
import { clientStore, openPage, openPart, openTaskAnswers } from '../../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../../tests/client/server.ts'
import { fakeUploads, uploadedOf } from '../../../../../tests/client/uploads.ts'
import { selectNotifications } from '../../notifications/notifications.ts'
import { ReplayContext, type Replayed } from '../replayContext.ts'
import { historyPage } from '../taskApi.ts'
import { chatLoaded, taskLoaded, taskOpened } from '../taskSlice.ts'
import { createTerminalLog } from '../terminal/log/terminalLog.ts'
import { texts } from './texts.ts'
import { useSendMessage } from './composer/useSendMessage.ts'
import { messageDocumentId } from '#domain/views/chat.ts'
import { announcement, ChatPanel } from './ChatPanel.tsx'
import type { ChatEntry, MessageEntry, TurnEntry } from './chatTimeline.ts'
import { cameAfter, endOf } from './historyScroll.ts'
import { createWriting } from './streamingText.ts'

const task = taskOf(1)
const execution: NonNullable<Task['execution']> = {
  id: executionId(1),
  kind: 'turn',
  turn: 1,
  requestedAt: task.createdAt,
  startedAt: task.createdAt,
  endedAt: task.createdAt,
  steps: [],
  cancelRequested: false,
}
const at = `/tasks/${task.id}`
const chat = async () => within(await screen.findByRole('region', { name: 'Task Chat' }))

// Holds screens 2.52.
test('messages are looked for from the keyboard, by their words or their command, and Escape shows all again', async () => {
  const messages = [
    messageOf(1, { message: 'Add a date' }),
    messageOf(2, { message: 'ls date', messageType: 'command', isCommand: true, commandText: 'ls date' }),
    messageOf(3, { message: 'Something else' }),
  ]
  openPage(at, { answers: { ...openTaskAnswers(task), [`GET ${at}/chat`]: { messages, version: 1 } } })
  await screen.findByText('Something else')
  fireEvent.keyDown(document.body, { key: '/' })
  const box = (await chat()).getByRole('searchbox', { name: 'Search messages' })
  fireEvent.change(box, { target: { value: 'DATE' } })
  expect((await chat()).getByText('Found 2 messages')).toBeTruthy()
  expect(screen.queryByText('Something else')).toBeNull()
  fireEvent.keyDown(box, { key: 'Escape' })
  expect(await screen.findByText('Something else')).toBeTruthy()
  expect((await chat()).queryByRole('searchbox')).toBeNull()
})

test('a message that waits is found too, where it waits', async () => {
  const messages = [
    messageOf(1, { message: 'Add a date' }),
    messageOf(2, { message: 'Add a flag', status: 'queued' }),
    messageOf(3, { message: 'Add a flag and a date', status: 'queued' }),
  ]
  openPage(at, {
    answers: {
      ...openTaskAnswers(taskOf(1, { status: 'running' })),
      [`GET ${at}/chat`]: { messages, version: 1 },
    },
  })
  const waits = await screen.findByText('Add a flag')
  fireEvent.keyDown(document.body, { key: '/' })
  const box = (await chat()).getByRole('searchbox', { name: 'Search messages' })
  fireEvent.change(box, { target: { value: 'flag' } })
  expect((await chat()).getByText('Found 2 messages')).toBeTruthy()
  expect(waits.hasAttribute('data-searched')).toBe(true)
})

test('undoing the last turn during a search means the last turn of all, not of those that were found', async () => {
  const said = (n: number, message: string) =>
    messageOf(n, { message, messageType: 'response', executionId: executionId(n) })
  const messages = [said(1, 'Here is a date'), said(2, 'Here is a time')]
  const server = openPage(at, {
    answers: { ...openTaskAnswers(task), [`GET ${at}/chat`]: { messages, version: 1 } },
  })
  await screen.findByText('Here is a time')
  fireEvent.keyDown(document.body, { key: '/' })
  const box = (await chat()).getByRole('searchbox', { name: 'Search messages' })
  fireEvent.change(box, { target: { value: 'date' } })
  expect((await chat()).queryByText('Here is a time')).toBeNull()
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
  fireEvent.click(await screen.findByText('Undo last turn'))
  await waitFor(() =>
    expect(server.of(`GET ${at}/undo/preview`)[0]?.query).toEqual({ executionId: executionId(2) }),
  )
})

describe('a message that was withdrawn while nothing runs', () => {
  test.each([
    [
      'another message',
      'chat',
      () => {
        const box = screen.getByRole('textbox', { name: 'Message' })
        fireEvent.change(box, { target: { value: 'Add a time' } })
        fireEvent.keyDown(box, { key: 'Enter' })
      },
    ],
    ['another try', 'retry', () => fireEvent.click(screen.getByRole('button', { name: texts.chat.retry }))],
  ] as const)('is not given to the agent with %s', async (_what, path, send) => {
    const failed = taskOf(1, { status: 'failed', failure: { code: 'agent', reason: 'It stopped.' } })
    const withdrawal = `DELETE ${at}/chat/${messageId(1)}`
    let answer: (body: unknown) => void = () => undefined
    const server = openPage(at, {
      answers: {
        ...openTaskAnswers(failed),
        [`GET ${at}/chat`]: { messages: [messageOf(1, { status: 'queued' })], version: 1 },
        [withdrawal]: new Promise((resolve) => (answer = resolve)),
        [`POST ${at}/chat`]: { success: true, chatMessage: messageOf(2) },
        [`POST ${at}/retry`]: { task: failed },
      },
    })
    await screen.findByText('message 1')
    fireEvent.click(screen.getByRole('button', { name: 'Withdraw' }))
    send()
    await waitFor(() => expect(server.of(withdrawal)).toHaveLength(1))
    expect(server.of(`POST ${at}/${path}`)).toEqual([])
    answer({ success: true, position: '9' })
    await waitFor(() => expect(server.of(`POST ${at}/${path}`)).toHaveLength(1))
    expect(server.of(withdrawal)).toHaveLength(1)
  })
})

test('the next message keeps its text and its images while a moment of the history is shown', async () => {
  const uploads = fakeUploads()
  const { server, store } = openPart(<ReplayablePanel />, {
    [`POST ${at}/chat`]: { success: true, chatMessage: messageOf(1) },
  })
  act(() => {
    store.dispatch(taskOpened(task.id))
    store.dispatch(taskLoaded(task))
    store.dispatch(chatLoaded({ messages: [], version: 1 }))
  })
  const box = () => screen.getByRole('textbox', { name: 'Message' })
  const input = document.querySelector('input[type=file]')
  if (input === null) throw new Error('There is no file picker.')
  fireEvent.change(input, { target: { files: [new File(['pixels'], 'a.png', { type: 'image/png' })] } })
  fireEvent.change(box(), { target: { value: 'Look at this' } })
  const toggle = () => fireEvent.click(screen.getByRole('button', { name: 'Replay' }))
  toggle()
  expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull()
  uploads.made[0]?.answer(201, uploadedOf('image-a', 'a.png'))
  toggle()
  expect(await screen.findByText('a.png')).toBeTruthy()
  await waitFor(() => expect(screen.queryByRole('progressbar')).toBeNull())
  fireEvent.keyDown(box(), { key: 'Enter' })
  await waitFor(() =>
    expect(server.of(`POST ${at}/chat`)[0]?.body).toMatchObject({
      message: 'Look at this',
      images: ['image-a'],
    }),
  )
})

const openTask = { terminal: createTerminalLog(), writing: createWriting(), reload: () => undefined }
const replayed: Replayed = {
  now: 0,
  changesAt: null,
  changes: async () => ({ reason: '' }),
  Dock: () => null,
  Changes: () => null,
}

/** The chat of the task, with a button that begins and ends a replay. */
function ReplayablePanel() {
  const [isReplayed, setReplayed] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setReplayed(!isReplayed)}>
        Replay
      </button>
      <ReplayContext value={isReplayed ? replayed : null}>
        <ChatPanel task={task} open={openTask} headed tools={null} />
      </ReplayContext>
    </>
  )
}

describe('recorder H7: the page of a task whose record is damaged', () => {
  const damaged = (stream?: 'task' | 'terminal') =>
    taskOf(1, {
      status: 'running',
      execution: { ...execution, endedAt: null },
      unreadable: { ...(stream && { stream }), revision: 7, reason: 'broken_chain' },
    })
  const messages = [
    messageOf(1, { message: 'Add a date', status: 'running', executionId: executionId(1) }),
    messageOf(2, { message: 'And a time', status: 'queued', executionId: null }),
  ]
  const openDamaged = (stream?: 'task' | 'terminal') =>
    openPage(at, {
      answers: { ...openTaskAnswers(damaged(stream)), [`GET ${at}/chat`]: { messages, version: 1 } },
    })

  test('says so in a banner that no panel scrolls away, with the reason', async () => {
    openDamaged()
    const banner = (await screen.findByText('The record of this task is damaged.')).closest('[role=alert]')
    expect(banner?.textContent).toContain('From event 7 on, a record was changed or removed.')
    expect(banner?.closest('.overflow-y-auto')).toBeNull()
  })

  // Holds findings 1.116.
  test('has that status, and no clock, Stop, Cancel, Create PR or composer', async () => {
    openDamaged()
    await screen.findByText('Add a date')
    expect(screen.getAllByText('Record damaged').length).toBeGreaterThan(0)
    expect(document.querySelectorAll('[data-status=running]')).toHaveLength(0)
    expect(screen.getByRole('region', { name: 'Task' }).textContent).not.toMatch(/\d+s/)
    for (const name of [/^Stop/, /^Cancel/, /^Create PR/, /^Update PR/, /^Send/, /^Retry/])
      expect(screen.queryAllByRole('button', { name })).toEqual([])
    expect(screen.queryByRole('textbox')).toBeNull()
    expect(screen.queryByRole('progressbar')).toBeNull()
  })

  test('shows what waited as it was written', async () => {
    openDamaged()
    expect(await screen.findByText('And a time')).toBeTruthy()
  })

  test('goes on as before where only the record of its output is damaged', async () => {
    openDamaged('terminal')
    const banner = (await screen.findByText('The record of the output is damaged.')).closest('[role=status]')
    expect(banner).not.toBeNull()
    expect(screen.queryByText('Record damaged')).toBeNull()
    expect(screen.getAllByRole('textbox').length).toBeGreaterThan(0)
    expect(screen.getAllByRole('button', { name: /^Cancel/ }).length).toBeGreaterThan(0)
  })
})

test('what an agent does is not shown before what it was asked for', async () => {
  const messages = [messageOf(1, { message: 'Add a date', status: 'running', executionId: executionId(1) })]
  let answer: (body: unknown) => void = () => undefined
  const running = taskOf(1, { status: 'running', execution: { ...execution, endedAt: null } })
  openPage(at, {
    answers: {
      ...openTaskAnswers(running),
      [`GET ${at}/chat`]: new Promise((resolve) => (answer = resolve)),
    },
  })
  await screen.findByRole('heading', { level: 1, name: 'Task 1' })
  expect((await chat()).queryAllByRole('article')).toEqual([])
  answer({ messages, version: 1 })
  expect(await screen.findByText('Add a date')).toBeTruthy()
  const [asked, turn] = (await chat()).getAllByRole('article')
  expect(asked?.textContent).toContain('Add a date')
  expect(turn?.querySelector('svg[data-agent=claude]')).not.toBeNull()
})

test('a command that runs is said to be one, and is no turn', async () => {
  const command = { ...execution, kind: 'command' as const, turn: 6, endedAt: null }
  openPage(at, { answers: openTaskAnswers(taskOf(1, { status: 'running', execution: command })) })
  expect(await (await chat()).findByText('Running a command')).toBeTruthy()
  expect((await chat()).queryByText(/Turn 6/)).toBeNull()
})

// Holds contract 8.17f.
test('a message without a task that is selected is not sent: No task selected', async () => {
  const server = fakeServer({})
  const store = clientStore()
  const nowhere = renderHook(() => useSendMessage(task.id, () => undefined), {
    wrapper: ({ children }) => <Provider store={store}>{children}</Provider>,
  })
  act(() => nowhere.result.current.send('Go on', false, 'claude'))
  expect(selectNotifications(store.getState()).map(({ type, title }) => [type, title])).toEqual([
    ['error', 'No task selected'],
  ])
  expect(server.asked).toEqual([])
})

test('a message that is grouped with the one before has nothing beside it but its menu, when that is asked for', async () => {
  const messages = [messageOf(1, { message: 'One' }), messageOf(2, { message: 'Two' })]
  openPage(at, { answers: { ...openTaskAnswers(task), [`GET ${at}/chat`]: { messages, version: 1 } } })
  const article = (await screen.findByText('Two')).closest('article') ?? document.body
  const menu = within(article).getByRole('button', { name: 'Message menu' })
  const [ground] = [...article.querySelectorAll('.bg-raised')].filter((element) => element.contains(menu))
  expect(ground?.className).toContain('opacity-0')
})

// Holds screens 2.51.
test('a chat in which nothing was said says what to do', async () => {
  openPage(at, { answers: openTaskAnswers(task) })
  expect(await screen.findByText('No messages yet')).toBeTruthy()
  const why = 'Start a conversation or execute a command to begin collaborating on this task.'
  expect(screen.getByText(why)).toBeTruthy()
})

test('github 3.2, 3 (SSO): a turn that failed has the links of its reason, and counts down what GitHub asks to wait', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const link = 'https://github.com/orgs/acme/sso?authorization_request=A1'
  const retryAt = new Date(Date.now() + 2_500).toISOString()
  const failure = { code: 'code_host', reason: `Open ${link}, then try again.`, retryAt }
  openPage(at, { answers: openTaskAnswers(taskOf(1, { status: 'failed', failure })) })
  expect((await screen.findByRole('link', { name: link })).getAttribute('href')).toBe(link)
  expect(screen.getByRole('button', { name: 'Try again in 3s' })).toHaveProperty('disabled', true)
  act(() => void vi.advanceTimersByTime(2_000))
  expect(screen.getByRole('button', { name: 'Try again in 1s' })).toHaveProperty('disabled', true)
  act(() => void vi.advanceTimersByTime(1_000))
  expect(screen.queryByRole('timer')).toBeNull()
  expect(screen.getByRole('button', { name: texts.chat.retry })).toHaveProperty('disabled', false)
})

// Holds screens 2.48c.
test('each message shows whose it is and how it fares, and is copied or its task deleted by a menu', async () => {
  const copied = vi.fn<(text: string) => Promise<void>>(async () => undefined)
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: copied } })
  const messages = [
    messageOf(1, { message: 'Fix it', status: 'failed', executionId: executionId(1) }),
    messageOf(2, { message: 'I could not.', messageType: 'response', executionId: executionId(1) }),
  ]
  const usage = { inputTokens: 5_000, outputTokens: 700, costUsd: 0.031 }
  const answers = openTaskAnswers(taskOf(1, { execution: { ...execution, usage } }))
  openPage(at, { answers: { ...answers, [`GET ${at}/chat`]: { messages, version: 1 } } })
  await screen.findByText('I could not.')
  const [asked, said] = (await chat()).getAllByRole('article')
  if (asked === undefined || said === undefined) throw new Error('A message is missing.')
  expect(said.querySelector('svg[data-agent=claude]')).not.toBeNull()
  for (const article of [asked, said]) expect(article.querySelector('[data-status=failed]')).not.toBeNull()

  expect(within(said).getByText('5.7k tokens · $0.03')).toBeTruthy()

  const choose = (name: string) => {
    fireEvent.click(within(said).getByRole('button', { name: 'Message menu' }))
    fireEvent.click(screen.getByRole('menuitem', { name }))
  }
  choose('Copy Text')
  expect(copied).toHaveBeenCalledWith('I could not.')
  choose('Delete Task')
  expect(await screen.findByText('Are you sure you want to delete this task?')).toBeTruthy()
})

describe('a long chat', () => {
  const told = (n: number) =>
    messageOf(n, { message: `step ${n}`, messageType: 'response', executionId: executionId(1) })
  const latest = Array.from({ length: historyPage.messages }, (_, index) => told(index + 2))

  test('draws its end, and reads what was before when somebody goes back', async () => {
    const server = openPage(at, {
      answers: {
        ...openTaskAnswers(task),
        [`GET ${at}/chat`]: ({ query }: { readonly query: Readonly<Record<string, string>> }) =>
          query['before'] === undefined
            ? { messages: latest, version: 1 }
            : { messages: [messageOf(1, { message: 'How it began' })], version: 1 },
      },
    })
    await screen.findByText(`step ${historyPage.messages + 1}`)
    expect(screen.queryByText('step 2')).toBeNull()
    fireEvent.click(screen.getByRole('button', { name: 'Show earlier messages' }))
    expect(await screen.findByText('How it began')).toBeTruthy()
    expect(server.of(`GET ${at}/chat`).map(({ query }) => query['before'])).toEqual([undefined, '2'])
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Show earlier messages' })).toBeNull())
    fireEvent.click(screen.getByRole('button', { name: `${historyPage.messages - 100} earlier steps` }))
    expect(screen.getByText(`step ${historyPage.messages - 150}`)).toBeTruthy()
  })
})

function documentOf(n: number, message: string) {
  const {
    project: _project,
    owner: _owner,
    images: _images,
    attachments: _attachments,
    ...shown
  } = messageOf(n)
  const id = messageDocumentId(shown.task, shown.id)
  return { ...shown, id, messageId: messageId(n), images: [], order: String(n), message }
}
const said = (n: number): MessageEntry => ({
  kind: 'message',
  key: String(n),
  at: '',
  message: documentOf(n, `message ${n}`),
  grouped: false,
})
const turn = (...words: readonly [number, string][]): TurnEntry => ({
  kind: 'turn',
  key: 't',
  at: '',
  agent: 'claude',
  status: 'completed',
  live: false,
  partial: false,
  parts: words.map(([n, text]) => ({
    kind: 'text',
    key: String(n),
    order: String(n),
    message: documentOf(n, text),
  })),
})

describe('who listens is told', () => {
  const entries: readonly ChatEntry[] = [said(1), turn([2, 'I did it.'])]
  test.each([
    ['running', 'completed', 'The agent has finished'],
    ['running', 'cancelled', 'The turn was stopped'],
    // A failure is announced by the alert about it.
    ['running', 'failed', ''],
    ['pending', 'queued', ''],
    ['queued', 'running', ''],
    // The turn had ended before the page was opened.
    ['completed', 'completed', ''],
  ] as const)('when a task that is %s becomes %s: %j', (before, now, words) =>
    expect(announcement(before, now, entries)).toBe(words),
  )

  test('what the agent asks', () =>
    expect(announcement('running', 'completed', [turn([2, 'It is done.\n\nShall I go on?'])])).toBe(
      'The agent asks: Shall I go on?',
    ))
})

describe('messages that came since the end was left', () => {
  test('are counted, of people and of agents', () => {
    const left = endOf([said(1), turn([2, 'a'])])
    expect(cameAfter([said(1), turn([2, 'a'], [3, 'b']), said(4)], left)).toBe(2)
  })

  test('are not the earlier ones that were read meanwhile', () => {
    const left = endOf([said(3)])
    expect(cameAfter([said(1), said(2), said(3)], left)).toBe(0)
  })
})
