/** A viewer that was cut off between two messages of one event, and says how many it received, gets the rest and nothing twice. */
import { io, type Socket } from 'socket.io-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import type { ClientEvents, ResumeCursor, ServerEvents } from '#domain/api/socket.schema.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene([])
})
afterAll(() => scene?.close())

test('a viewer cut off between two messages of one event is told the rest', async () => {
  const { ada, product, projectId } = scene
  const task = await ada.task(projectId, 'Be ready')
  await ada.taskOnce(task.id, hasEnded)
  const socket: Socket<ServerEvents, ClientEvents> = io(product.base, {
    auth: { token: ada.token },
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
  })
  const said: string[] = []
  const seen = new Promise<string>((resolve) => {
    socket.on('chat_message_status_changed', ({ position }) => void said.push(position))
    socket.on('task_event', (event) => {
      if (event.type !== 'ExecutionStarted') return
      // The connection ends here; the position has been seen.
      socket.close()
      resolve(event.position)
    })
  })
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  await new Promise((resolve) => socket.emit('join_task', task.id, null, resolve))
  await ada.ask(sendMessage, { params: { taskId: task.id }, body: { message: 'Seen by halves' } })
  const position = await seen
  await ada.taskOnce(task.id, hasEnded)
  const toldAfter = async (last: ResumeCursor) => {
    const live = await ada.socket()
    await live.join(task.id, last)
    await live.until('the end', ({ name }) => name === 'task_status_changed')
    live.close()
    return live.heard.flatMap(({ name, payload }) =>
      'position' in payload && payload.position === position ? [name] : [],
    )
  }
  expect(said).toEqual([])
  expect(await toldAfter({ position, messages: 1 })).toEqual(['chat_message_status_changed'])
  expect(await toldAfter({ position, messages: 2 })).toEqual([])
  // Who names only the position says that it has all of it.
  expect(await toldAfter(position)).toEqual([])
})
