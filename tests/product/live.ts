/** A socket like a browser's: everything that it receives is recorded, in order. */
import { Socket as Connection } from 'node:net'
import { io, type Socket } from 'socket.io-client'
import { patienceMs } from '../patience.ts'
import type { ShellAnswer, ShellOpening } from '#domain/api/shell.schema.ts'
import type { ClientEvents, JoinAnswer, ResumeCursor, ServerEvents } from '#domain/api/socket.schema.ts'

/** An event as it was received. */
export type Heard = {
  [Name in keyof ServerEvents]: {
    readonly name: Name
    readonly payload: Parameters<ServerEvents[Name]>[0]
    /** The time of arrival, in milliseconds of `performance.now()`. */
    readonly at: number
  }
}[keyof ServerEvents]

type PayloadOf<Name extends keyof ServerEvents> = Parameters<ServerEvents[Name]>[0]

export interface Live {
  /** Everything that was received so far. */
  readonly heard: readonly Heard[]
  /** The payloads of the events with one name, in order. */
  of<Name extends keyof ServerEvents>(name: Name): readonly PayloadOf<Name>[]
  join(taskId: string, last?: ResumeCursor | null): Promise<JoinAnswer>
  leave(taskId: string): void
  openShell(taskId: string, size?: { readonly rows: number; readonly columns: number }): Promise<ShellOpening>
  /** Types into a shell; the answer says whether the shell took it. */
  type(taskId: string, shellId: string, text: string): Promise<ShellAnswer>
  resizeShell(taskId: string, shellId: string, size: { rows: number; columns: number }): Promise<ShellAnswer>
  closeShell(taskId: string, shellId: string): Promise<ShellAnswer>
  /** The first event that matches, now or within `withinMs`. */
  until(what: string, like: (event: Heard) => boolean, withinMs?: number): Promise<Heard>
  readonly isConnected: () => boolean
  /** Reads and sends nothing more, like a machine that was put to sleep. */
  fallAsleep(): void
  /** Breaks the connection below the websocket, as a network does, without a close message. */
  break(): void
  close(): void
}

/** Live messages in the form in which the history has them, which leaves out the command. */
export function asRead<T extends { readonly commandId: string }>(said: readonly T[]): Omit<T, 'commandId'>[] {
  return said.map(({ commandId: _commandId, ...read }) => read)
}

const connectMs = patienceMs
const answerMs = patienceMs

/** Resolves once connected; rejects with the server's sentence when it refuses. */
export async function connectLive(
  base: string,
  token: string,
  transport: 'websocket' | 'polling' = 'websocket',
  knowsWords = true,
): Promise<Live> {
  const socket: Socket<ServerEvents, ClientEvents> = io(base, {
    auth: { token, knowsWords },
    transports: [transport],
    forceNew: true,
    reconnection: false,
    timeout: connectMs,
  })
  const heard: Heard[] = []
  const listeners = new Set<() => void>()
  const hear = (event: Heard) => {
    heard.push(event)
    for (const listener of listeners) listener()
  }
  const at = () => performance.now()
  const payloads: { [Name in keyof ServerEvents]: PayloadOf<Name>[] } = {
    terminal_output: [],
    chat_message: [],
    chat_message_words: [],
    thought_words: [],
    chat_message_delta: [],
    chat_message_status_changed: [],
    task_status_changed: [],
    global_task_status_changed: [],
    command_output: [],
    command_completed: [],
    command_failed: [],
    command_cancelled: [],
    question_asked: [],
    question_answered: [],
    question_withdrawn: [],
    task_event: [],
    task_resync: [],
  }
  socket.on('terminal_output', (payload) => {
    payloads.terminal_output.push(payload)
    hear({ name: 'terminal_output', payload, at: at() })
  })
  socket.on('chat_message', (payload) => {
    payloads.chat_message.push(payload)
    hear({ name: 'chat_message', payload, at: at() })
  })
  socket.on('chat_message_words', (payload) => {
    payloads.chat_message_words.push(payload)
    hear({ name: 'chat_message_words', payload, at: at() })
  })
  socket.on('thought_words', (payload) => {
    payloads.thought_words.push(payload)
    hear({ name: 'thought_words', payload, at: at() })
  })
  socket.on('chat_message_delta', (payload) => {
    payloads.chat_message_delta.push(payload)
    hear({ name: 'chat_message_delta', payload, at: at() })
  })
  socket.on('chat_message_status_changed', (payload) => {
    payloads.chat_message_status_changed.push(payload)
    hear({ name: 'chat_message_status_changed', payload, at: at() })
  })
  socket.on('task_status_changed', (payload) => {
    payloads.task_status_changed.push(payload)
    hear({ name: 'task_status_changed', payload, at: at() })
  })
  socket.on('global_task_status_changed', (payload) => {
    payloads.global_task_status_changed.push(payload)
    hear({ name: 'global_task_status_changed', payload, at: at() })
  })
  socket.on('command_output', (payload) => {
    payloads.command_output.push(payload)
    hear({ name: 'command_output', payload, at: at() })
  })
  socket.on('command_completed', (payload) => {
    payloads.command_completed.push(payload)
    hear({ name: 'command_completed', payload, at: at() })
  })
  socket.on('command_failed', (payload) => {
    payloads.command_failed.push(payload)
    hear({ name: 'command_failed', payload, at: at() })
  })
  socket.on('command_cancelled', (payload) => {
    payloads.command_cancelled.push(payload)
    hear({ name: 'command_cancelled', payload, at: at() })
  })
  socket.on('question_asked', (payload) => {
    payloads.question_asked.push(payload)
    hear({ name: 'question_asked', payload, at: at() })
  })
  socket.on('question_answered', (payload) => {
    payloads.question_answered.push(payload)
    hear({ name: 'question_answered', payload, at: at() })
  })
  socket.on('question_withdrawn', (payload) => {
    payloads.question_withdrawn.push(payload)
    hear({ name: 'question_withdrawn', payload, at: at() })
  })
  socket.on('task_event', (payload) => {
    payloads.task_event.push(payload)
    hear({ name: 'task_event', payload, at: at() })
  })
  socket.on('task_resync', (payload) => {
    payloads.task_resync.push(payload)
    hear({ name: 'task_resync', payload, at: at() })
  })

  await new Promise<void>((resolve, reject) => {
    const fail = (fault: Error) => {
      socket.close()
      reject(fault)
    }
    socket.once('connect', () => resolve())
    socket.once('connect_error', fail)
    // The server disappeared between the opening and its answer, which gives neither an error nor a connection.
    socket.once('disconnect', (reason) => fail(new Error(`It was closed before it stood: ${reason}`)))
  })

  return {
    heard,
    of: (name) => payloads[name],
    join: (taskId, last) =>
      within(
        answerMs,
        'join_task was not answered',
        new Promise((resolve) => socket.emit('join_task', taskId, last ?? null, resolve)),
      ),
    leave: (taskId) => void socket.emit('leave_task', taskId),
    openShell: (taskId, size = { rows: 24, columns: 80 }) =>
      socket.timeout(answerMs).emitWithAck('shell_open', taskId, size),
    type: (taskId, shellId, text) =>
      socket.timeout(answerMs).emitWithAck('shell_input', taskId, shellId, text),
    resizeShell: (taskId, shellId, size) =>
      socket.timeout(answerMs).emitWithAck('shell_resize', taskId, shellId, size),
    closeShell: (taskId, shellId) => socket.timeout(answerMs).emitWithAck('shell_close', taskId, shellId),
    until: (what, like, withinMs = patienceMs) => {
      let listener = () => {}
      const seen = new Promise<Heard>((resolve) => {
        listener = () => {
          const found = heard.find(like)
          if (found) resolve(found)
        }
        listeners.add(listener)
        listener()
      })
      return within(
        withinMs,
        () => `Not heard: ${what}. Heard: ${heard.map(({ name }) => name).join(' ')}`,
        seen,
      ).finally(() => listeners.delete(listener))
    },
    isConnected: () => socket.connected,
    fallAsleep: () => void connectionOf(socket).pause(),
    break: () => void connectionOf(socket).destroy(),
    close: () => void socket.close(),
  }
}

/** The network connection below a websocket. */
function connectionOf(socket: Socket<ServerEvents, ClientEvents>): Connection {
  const websocket: unknown = Reflect.get(socket.io.engine.transport, 'ws')
  const connection: unknown = Reflect.get(Object(websocket), '_socket')
  if (!(connection instanceof Connection)) throw new Error('It has no connection of its own.')
  return connection
}

/** The promise's value within `ms` milliseconds, or an error with `why`. */
export async function within<T>(ms: number, why: string | (() => string), promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${typeof why === 'string' ? why : why()} (within ${ms} ms)`))
    }, ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
