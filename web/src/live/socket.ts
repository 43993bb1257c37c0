/** The socket: its authentication, how it reconnects, and how it reports its state. */
import type { Dispatch } from '@reduxjs/toolkit'
import { io, type Socket } from 'socket.io-client'
import type { ClientEvents, JoinAnswer, ServerEvents, TaskEventMessage } from '#domain/api/socket.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { readToken } from '../api/tokenStore.ts'
import { connectionChanged, quietChanged, taskStatusChanged, turnedAway } from './connection.ts'
import type { LiveSocket } from './liveSocket.ts'
import type { Viewer } from './viewer.ts'

interface SocketHandlers {
  readonly dispatch: Dispatch
  readonly onConnect: (socket: LiveSocket) => void
  /** Called for each message of a task; `deliver` hands the message to one viewer. */
  readonly onTaskMessage: (taskId: string, deliver: (viewer: Viewer) => void) => void
}

/** The time limit for connecting, in milliseconds (contract, section 9). */
const connectTimeoutMs = 20_000
/** The time limit for joining a room, in milliseconds. */
const joinTimeoutMs = 10_000
/** How long to wait before reconnecting after the server closed or refused the connection, in milliseconds. */
const turnedAwayMs = 5_000

/** The server sends something every two seconds: after this much silence, in milliseconds, the page says that the connection may be lost. */
const quietMs = 2_900

export function openSocket(to: SocketHandlers): LiveSocket {
  const socket: Socket<ServerEvents, ClientEvents> = io({
    // Evaluated for each attempt, because the token may have changed.
    auth: (give) => give({ token: readToken() ?? '', knowsWords: true }),
    transports: ['websocket', 'polling'],
    withCredentials: true,
    timeout: connectTimeoutMs,
    reconnectionDelay: 500,
    reconnectionDelayMax: 5_000,
  })
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  const tryAgain = () => {
    to.dispatch(turnedAway())
    clearTimeout(retryTimer)
    retryTimer = setTimeout(() => socket.connect(), turnedAwayMs)
  }

  let quiet: ReturnType<typeof setTimeout> | undefined
  const noteActivity = () => {
    clearTimeout(quiet)
    to.dispatch(quietChanged(false))
    quiet = setTimeout(() => to.dispatch(quietChanged(true)), quietMs)
  }
  socket.io.on('ping', noteActivity)

  const live: LiveSocket = {
    isConnected: () => socket.connected,
    join: (taskId, last) => joinTask(socket, taskId, last),
    raw: socket,
    leave: (taskId) => {
      if (socket.connected) socket.emit('leave_task', taskId)
      // Section 5 of the contract names this message, which only matters for debugging.
      else console.warn('Cannot emit event: WebSocket not connected')
    },
    close: () => {
      clearTimeout(retryTimer)
      clearTimeout(quiet)
      window.removeEventListener('online', onOnline)
      window.removeEventListener('offline', onOffline)
      socket.disconnect()
      to.dispatch(connectionChanged('disconnected'))
    },
  }
  // The browser notices a lost network before the socket does: the socket would wait for an answer that cannot come.
  const onOffline = () => socket.disconnect()
  const onOnline = () => socket.connect()
  window.addEventListener('online', onOnline)
  window.addEventListener('offline', onOffline)

  to.dispatch(connectionChanged('connecting'))
  socket.on('connect', () => {
    clearTimeout(retryTimer)
    to.dispatch(connectionChanged('connected'))
    noteActivity()
    to.onConnect(live)
  })
  socket.on('disconnect', (reason) => {
    clearTimeout(quiet)
    to.dispatch(connectionChanged('disconnected'))
    // The socket does not reconnect by itself after the server closed it.
    if (reason === 'io server disconnect') tryAgain()
  })
  socket.on('connect_error', ({ message }) => {
    // An inactive socket was refused by the server. An active one did not reach the server, and retries by itself.
    to.dispatch(socket.active ? connectionChanged('disconnected') : connectionChanged('error', message))
    if (!socket.active) tryAgain()
  })

  socket.on('global_task_status_changed', (change) => to.dispatch(taskStatusChanged(change)))
  followTasks(socket, to.onTaskMessage)
  return live
}

/** Passes the messages of a task on to the viewers of that task. */
function followTasks(
  socket: Socket<ServerEvents, ClientEvents>,
  onTaskMessage: SocketHandlers['onTaskMessage'],
): void {
  socket.on('task_event', (event) => {
    const taskId = taskOf(event)
    if (taskId !== null) onTaskMessage(taskId, (viewer) => viewer.taskEvent(event))
  })
  socket.on('chat_message', (message) => onTaskMessage(message.task, (viewer) => viewer.chatMessage(message)))
  socket.on('terminal_output', (output) =>
    onTaskMessage(output.taskId, (viewer) => viewer.terminalOutput(output)),
  )
  socket.on('chat_message_words', (words) => onTaskMessage(words.taskId, (viewer) => viewer.words(words)))
  socket.on('thought_words', (words) =>
    onTaskMessage(words.taskId, (viewer) => viewer.words({ ...words, isThought: true })),
  )
  socket.on('chat_message_delta', (delta) =>
    onTaskMessage(delta.taskId, (viewer) => viewer.messageDelta(delta)),
  )
  socket.on('task_status_changed', (change) =>
    onTaskMessage(change.taskId, (viewer) => viewer.statusChanged(change)),
  )
  socket.on('task_resync', ({ taskId }) => onTaskMessage(taskId, (viewer) => viewer.resync()))
}

const notAnswered: JoinAnswer = {
  joined: false,
  error: 'The server did not answer in time.',
  code: 'timeout',
}

async function joinTask(
  socket: Socket<ServerEvents, ClientEvents>,
  taskId: string,
  last: Position | null,
): Promise<JoinAnswer> {
  // The socket would queue the join and send it after reconnecting, when the client joins its rooms again anyway.
  if (!socket.connected) return notAnswered
  try {
    return await socket.timeout(joinTimeoutMs).emitWithAck('join_task', taskId, last)
  } catch {
    return notAnswered
  }
}

const prefix = 'task-'

/** The task of an event, from the name of its stream. */
function taskOf(event: TaskEventMessage): string | null {
  return event.stream.startsWith(prefix) ? event.stream.slice(prefix.length) : null
}
