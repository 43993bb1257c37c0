// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { useRef } from 'react'
import { Provider, useSelector } from 'react-redux'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ChatMessage } from '#domain/api/chat.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { messageId } from '../../../../../../tests/domain/ids.ts'
import { clientStore } from '../../../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../../../tests/client/samples.ts'
import { fakeServer, json, refusal, type Answers } from '../../../../../../tests/client/server.ts'
import { tokenKey } from '../../../../api/tokenStore.ts'
import { Toasts } from '../../../notifications/Toasts.tsx'
import { chatLoaded, selectOpenTask, taskLoaded, taskOpened } from '../../taskSlice.ts'
import { chatTimeline } from '../chatTimeline.ts'
import { Queue } from './Queue.tsx'

const at = `/tasks/${taskOf(1).id}`
const one = `${at}/chat/${messageId(1)}`
const waits = [1, 2, 3].map((n) => messageOf(n, { status: 'queued' }))

/** The queue of a task in which three messages wait, on its own in the page. */
function open(
  over: Partial<Task> = {},
  answers: Answers = {},
  messages: readonly ChatMessage[] = waits,
  { wide = true, store = clientStore() } = {},
) {
  const task = taskOf(1, { status: 'running', ...over })
  const server = fakeServer(answers)
  localStorage.setItem(tokenKey, 'token-of-ada')
  window.matchMedia = (media) => Object.assign(new EventTarget(), noMedia, { media, matches: wide })
  Element.prototype.scrollIntoView = () => undefined
  store.dispatch(taskOpened(task.id))
  store.dispatch(taskLoaded(task))
  store.dispatch(chatLoaded({ messages, version: 1 }))
  render(
    <Provider store={store}>
      <QueueOfOpenTask />
      <Toasts />
    </Provider>,
  )
  onTestFinished(() => {
    cleanup()
    localStorage.clear()
  })
  return server
}
function QueueOfOpenTask() {
  const { task, chat } = useSelector(selectOpenTask)
  const box = useRef<HTMLTextAreaElement>(null)
  if (task === null) return null
  const messages = Object.values(chat.documents)
  const { queue } = chatTimeline({ task, messages, logs: [], writing: [], sent: [] })
  return (
    <>
      <Queue task={task} queue={queue} box={box} onSend={() => undefined} />
      <textarea ref={box} aria-label="Message" />
    </>
  )
}
const noMedia = {
  onchange: null,
  addListener: () => undefined,
  removeListener: () => undefined,
}
const rows = () =>
  within(screen.getByRole('list', { name: 'Queued messages' }))
    .getAllByRole('listitem')
    .map(({ textContent }) => textContent)
const row = (text: string) => {
  const found = screen.getAllByRole('listitem').find(({ textContent }) => textContent.includes(text))
  if (found === undefined) throw new Error(`No row says ${text}.`)
  return within(found)
}
const press = (text: string, name: string) => fireEvent.click(row(text).getByRole('button', { name }))
const done = { success: true, position: '9' }

afterEach(() => {
  vi.useRealTimers()
})

describe('a message that waits', () => {
  const edit = async (text: string, key: string) => {
    press('message 1', 'Edit')
    const box = await screen.findByRole('textbox', { name: 'Queued message' })
    fireEvent.change(box, { target: { value: text } })
    fireEvent.keyDown(box, { key })
  }

  test('is written anew in its place, and shows so at once', async () => {
    const server = open({}, { [`PUT ${one}`]: new Promise(() => undefined) })
    await edit('other words', 'Enter')
    expect(rows()).toEqual(['other words', 'message 2', 'message 3'])
    await waitFor(() => expect(server.of(`PUT ${one}`)[0]?.body).toEqual({ message: 'other words' }))
  })

  test('is offered the commands of its agent, as a new one is', async () => {
    const server = open({}, { [`PUT ${one}`]: new Promise(() => undefined) })
    await edit('/com', 'Shift')
    const list = await screen.findByRole('listbox', { name: "The agent's commands" })
    expect(within(list).getAllByRole('option')).toHaveLength(1)
    expect(screen.getByText('While the agent works, commands wait until it finishes.')).toBeTruthy()
    const box = await screen.findByRole('textbox', { name: 'Queued message' })
    fireEvent.keyDown(box, { key: 'Enter' })
    expect(box).toHaveProperty('value', '/compact ')
    expect(server.of(`PUT ${one}`)).toEqual([])
    fireEvent.keyDown(box, { key: 'Enter' })
    await waitFor(() => expect(server.of(`PUT ${one}`)[0]?.body).toEqual({ message: '/compact' }))
  })

  test('stays as it was on Escape', async () => {
    const server = open()
    await edit('other words', 'Escape')
    expect(rows()).toEqual(['message 1', 'message 2', 'message 3'])
    expect(server.of(`PUT ${one}`)).toEqual([])
  })

  test.each(['Enter', 'Escape'])('has the focus at its Edit button after %s', async (key) => {
    open({}, { [`PUT ${one}`]: new Promise(() => undefined) })
    await edit('other words', key)
    expect(document.activeElement).toBe(screen.getAllByRole('button', { name: 'Edit' })[0])
  })

  test('leaves the focus to the box of the next message when it has left the queue', async () => {
    const store = clientStore()
    open({}, {}, waits, { store })
    press('message 1', 'Edit')
    await screen.findByRole('textbox', { name: 'Queued message' })
    const messages = [messageOf(1, { version: 9 }), ...waits.slice(1)]
    act(() => void store.dispatch(chatLoaded({ messages, version: 9 })))
    expect(screen.getByText('The agent already has this message.')).toBeTruthy()
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Queued message' }), { key: 'Enter' })
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Message' }))
  })

  test('is as it was, with the reason, when the new words are refused', async () => {
    open({}, { [`PUT ${one}`]: () => refusal(409, 'The agent already has this message.') })
    await edit('other words', 'Enter')
    expect(await screen.findByText("Couldn't edit the message")).toBeTruthy()
    expect(screen.getByText('The agent already has this message.')).toBeTruthy()
    expect(rows()).toEqual(['message 1', 'message 2', 'message 3'])
  })

  test('is moved by the arrow keys of its grip, which is said', async () => {
    const server = open({}, { [`PUT ${at}/queue`]: { ...done, messages: [] } })
    const grip = row('message 1').getByRole('button', { name: 'Move message' })
    fireEvent.keyDown(grip, { key: 'ArrowDown' })
    expect(rows()).toEqual(['message 2', 'message 1', 'message 3'])
    expect(screen.getByText('Moved to 2 of 3')).toBeTruthy()
    fireEvent.keyDown(grip, { key: 'End' })
    expect(rows()).toEqual(['message 2', 'message 3', 'message 1'])
    await waitFor(() =>
      expect(server.of(`PUT ${at}/queue`).at(-1)?.body).toEqual({
        messageIds: [messageId(2), messageId(3), messageId(1)],
      }),
    )
  })

  test('stands where it stood when other messages wait by now', async () => {
    open({}, { [`PUT ${at}/queue`]: () => refusal(409, 'The messages that wait are others by now.') })
    fireEvent.keyDown(row('message 3').getByRole('button', { name: 'Move message' }), { key: 'Home' })
    expect(await screen.findByText("Couldn't reorder the messages")).toBeTruthy()
    expect(rows()).toEqual(['message 1', 'message 2', 'message 3'])
  })

  test('is told to the agent, and can be changed no more', async () => {
    const chatMessage = waits[0]
    const server = open({}, { [`POST ${one}/steer`]: { ...done, chatMessage } })
    press('message 1', 'Send to the agent now')
    expect(row('message 1').getByText('Sending to the agent')).toBeTruthy()
    expect(row('message 1').queryAllByRole('button')).toEqual([])
    await waitFor(() => expect(server.of(`POST ${one}/steer`)).toHaveLength(1))
  })
})

describe('a message that is withdrawn', () => {
  test('is taken back at once while the agent works, and comes back to its place when that is undone', async () => {
    const again = messageOf(4, { message: 'message 1', status: 'queued', version: 5 })
    const server = open(
      {},
      {
        [`DELETE ${one}`]: done,
        [`POST ${at}/chat`]: () => json(201, { success: true, chatMessage: again }),
        [`PUT ${at}/queue`]: { ...done, messages: [] },
      },
    )
    press('message 1', 'Withdraw')
    expect(rows()).toEqual(['message 2', 'message 3', 'Withdrawnmessage 1Undo'])
    await waitFor(() => expect(server.of(`DELETE ${one}`)).toHaveLength(1))
    press('Withdrawn', 'Undo')
    await waitFor(() => expect(server.of(`PUT ${at}/queue`)).toHaveLength(1))
    const [sent] = server.of(`POST ${at}/chat`)
    expect(sent?.body).toMatchObject({ message: 'message 1', messageType: 'user', agent: 'claude' })
  })

  test('is only hidden while nothing runs, until there is no way back', async () => {
    const server = open({ status: 'failed' }, { [`DELETE ${one}`]: done })
    press('message 1', 'Withdraw')
    expect(rows()[0]).toBe('message 2')
    press('Withdrawn', 'Undo')
    expect(rows()).toEqual(['message 1', 'message 2', 'message 3'])
    expect(server.of(`DELETE ${one}`)).toEqual([])

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    press('message 1', 'Withdraw')
    vi.advanceTimersByTime(5_000)
    vi.useRealTimers()
    await waitFor(() => expect(server.of(`DELETE ${one}`)).toHaveLength(1))
    expect(rows()).toEqual(['message 2', 'message 3'])
  })

  test('is withdrawn when the page is closed before there is no way back', async () => {
    const two = `${at}/chat/${messageId(2)}`
    const never = new Promise(() => undefined)
    const server = open({ status: 'failed' }, { [`DELETE ${one}`]: never, [`DELETE ${two}`]: never })
    const send = globalThis.fetch
    const calls: unknown[][] = []
    vi.stubGlobal('fetch', (...call: Parameters<typeof fetch>) => {
      calls.push(call)
      return send(...call)
    })
    press('message 1', 'Withdraw')
    press('message 2', 'Withdraw')
    fireEvent(window, new Event('pagehide'))
    // No withdrawal waits for the answer to another.
    await waitFor(() => expect(server.of(`DELETE ${two}`)).toHaveLength(1))
    expect(calls).toMatchObject([
      [`/api${one}`, { method: 'DELETE', keepalive: true }],
      [`/api${two}`, { method: 'DELETE', keepalive: true }],
    ])
    fireEvent(window, new Event('pagehide'))
    await waitFor(() => expect(rows()).toEqual(['message 3']))
    expect(server.of(`DELETE ${one}`)).toHaveLength(1)
  })

  test('is withdrawn when the list is folded', async () => {
    const server = open({ status: 'failed' }, { [`DELETE ${one}`]: done }, waits, { wide: false })
    fireEvent.click(screen.getByRole('button', { expanded: false }))
    press('message 1', 'Withdraw')
    expect(server.of(`DELETE ${one}`)).toEqual([])
    fireEvent.click(screen.getByRole('button', { expanded: true }))
    await waitFor(() => expect(server.of(`DELETE ${one}`)).toHaveLength(1))
  })

  test('says what of it would come back: its words, when it has images', async () => {
    const image = { id: 'i', url: '/api/images/i', name: 'a.png', size: 1, type: 'image/png' } as const
    open({}, { [`DELETE ${one}`]: done }, [messageOf(1, { status: 'queued', message: '', images: [image] })])
    fireEvent.click(screen.getByRole('button', { name: 'Withdraw' }))
    expect(row('Withdrawn').getByRole('button', { name: 'Undo (without images)' })).toBeTruthy()
  })

  test('is not what the next turn begins with', async () => {
    const asked: string[] = []
    open(
      { status: 'failed' },
      {
        [`DELETE ${one}`]: () => (asked.push('withdraw'), done),
        [`POST ${at}/execute`]: () => (asked.push('execute'), { task: taskOf(1) }),
      },
    )
    press('message 1', 'Withdraw')
    fireEvent.click(screen.getByRole('button', { name: 'Send now' }))
    await waitFor(() => expect(asked).toEqual(['withdraw', 'execute']))
  })
})
