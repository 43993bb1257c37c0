import { io, type Socket } from 'socket.io-client'
import { expect, test, vi } from 'vitest'
import type { ClientEvents, ServerEvents } from '#domain/api/socket.schema.ts'
import type { Live } from '../../../live/live.ts'
import { shellSession, waitingInput } from './shellSession.ts'

/** A session at a server that opens `shell-1`, `shell-2` and so on, of which only the latest takes input. */
function openSession() {
  const socket: Socket<ServerEvents, ClientEvents> = io('http://127.0.0.1:9', { autoConnect: false })
  let opened = 0
  const typed: unknown[][] = []
  vi.spyOn(socket, 'emit').mockImplementation((...said: unknown[]) => {
    const [name, , shellId, text] = said
    const answerOf = (): unknown => {
      if (name === 'shell_open') return { opened: true, shellId: `shell-${(opened += 1)}`, shared: true }
      if (name === 'shell_input') typed.push([shellId, text])
      return shellId === `shell-${opened}` ? 'taken' : 'gone'
    }
    const [answer, tell] = [answerOf(), said.at(-1)]
    if (typeof tell === 'function') queueMicrotask(() => void Reflect.apply(tell, undefined, [null, answer]))
    return socket
  })
  const join = () => Promise.reject(new Error('A shell joins no room.'))
  const live: Live = {
    begin: () => undefined,
    enter(viewer) {
      const nothing = () => undefined
      viewer.connected(join, { isConnected: () => true, join, leave: nothing, raw: socket, close: nothing })
      return nothing
    },
  }
  const session = shellSession('task', live)
  session.follow(() => true)
  const until = (kind: string) => vi.waitFor(() => expect(session.read().kind).toBe(kind))
  return { session, typed, until, end: () => (opened += 1) }
}

test('what is typed into a shell that has gone reaches no other shell', async () => {
  const { session, typed, until, end } = openSession()
  await until('open')
  end()
  session.type('r')
  session.type('m -r work\r')
  await until('gone')
  session.type('git push\r')
  await session.open()
  session.type('l')
  await vi.waitFor(() => expect(typed).toHaveLength(2))
  expect(typed).toEqual([
    ['shell-1', 'r'],
    ['shell-3', 'l'],
  ])
})

test('a paste is sent in pieces, in order, and one that is too much is refused as a whole', () => {
  const waiting = waitingInput()
  const pasted = '0123456789'.repeat(90_000)
  expect(waiting.add(pasted)).toBe(true)
  expect(waiting.add(pasted)).toBe(false)
  expect(waiting.add('exit\n')).toBe(true)
  let sent = ''
  while (!waiting.isEmpty()) sent += waiting.take()
  expect(sent === `${pasted}exit\n`).toBe(true)
  expect(waiting.add(pasted)).toBe(true)
  waiting.clear()
  expect(waiting.isEmpty()).toBe(true)
})

test('a character is not sent in halves', () => {
  const waiting = waitingInput()
  waiting.add(`a${'😀'.repeat(5_000)}`)
  expect(waiting.take()).toMatch(/^a(😀)+$/u)
  expect(waiting.take()).toMatch(/^(😀)+$/u)
})
