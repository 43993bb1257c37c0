/**
 * The live connection of the signed-in product. Listener middleware owns the one socket: it opens when the user is known and closes when the session
 * ends. Rooms are joined only in the `connect` handler, so that a restored connection is joined like a new one.
 */
import { createListenerMiddleware, type Dispatch, isAnyOf, type UnknownAction } from '@reduxjs/toolkit'
import type { JoinAnswer, TaskEventMessage, TaskStatusChanged } from '#domain/api/socket.schema.ts'
import type { ChatMessage, MessageDelta, MessageWords, TerminalOutput } from '#domain/api/chat.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { sessionEnded, sessionStarted } from '../api/session.ts'
import { connectionChanged, taskStatusChanged } from './connection.ts'
import type { LiveSocket, openSocket } from './socket.ts'

/** Joins a room, from a position or from now. Resolves to a refusal when there is no answer. */
export type Join = (last: Position | null) => Promise<JoinAnswer>

/** A viewer of one task. */
export interface Viewer {
  readonly taskId: string
  /** Called whenever the connection is established, also after a loss: join now. */
  connected(join: Join): void
  taskEvent(event: TaskEventMessage): void
  /** A message that is new, edited or withdrawn. */
  chatMessage(message: ChatMessage): void
  terminalOutput(output: TerminalOutput): void
  messageWords(words: MessageWords): void
  messageDelta(delta: MessageDelta): void
  statusChanged(change: TaskStatusChanged): void
  /** Too much was missed to be sent: read the history again. */
  resync(): void
}

export interface Live {
  /** Allows the connection to open. Called after the first render, which loading the socket would delay. */
  begin(): void
  /** Watches a task until the returned function is called. */
  enter(viewer: Viewer): () => void
}

/** How long to wait before loading a failed chunk again, in milliseconds. */
const loadAgainMs = 3_000

interface LiveOptions {
  /** Whether the action makes the user known, so that the connection may open. */
  readonly userKnown: (action: UnknownAction) => boolean
  /** Loads the socket, in a chunk of its own that people who are not signed in never load. */
  readonly loadSocket?: () => Promise<{ readonly openSocket: typeof openSocket }>
}

export function createLive({ userKnown, loadSocket = () => import('./socket.ts') }: LiveOptions) {
  const listener = createListenerMiddleware()
  const viewers = new Set<Viewer>()
  let socket: LiveSocket | null = null
  let wanted = false
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))

  /** Loads the chunk, retrying until the session ends; `null` then. */
  const loaded = async (load: typeof loadSocket, dispatch: Dispatch) => {
    for (;;) {
      const chunk = await load().catch(() => null)
      if (!wanted) return null
      if (chunk !== null) return chunk
      dispatch(connectionChanged('disconnected'))
      await new Promise((resolve) => setTimeout(resolve, loadAgainMs))
      if (!wanted) return null
    }
  }
  const of = (taskId: string) => [...viewers].filter((viewer) => viewer.taskId === taskId)
  const tellConnected = (viewer: Viewer, on: LiveSocket) =>
    viewer.connected((last) => on.join(viewer.taskId, last))

  listener.startListening({
    predicate: (action) => userKnown(action),
    effect: async (_action, { dispatch }) => {
      if (wanted) return
      wanted = true
      await begun
      const chunk = await loaded(loadSocket, dispatch)
      // The session may have ended while the chunk was loading.
      if (chunk === null || socket !== null) return
      socket = chunk.openSocket({
        dispatch,
        onConnect: (on) => {
          for (const viewer of viewers) tellConnected(viewer, on)
        },
        onTaskEvent: (taskId, event) => of(taskId).forEach((viewer) => viewer.taskEvent(event)),
        onChatMessage: (message) => of(message.task).forEach((viewer) => viewer.chatMessage(message)),
        onTerminalOutput: (output) => of(output.taskId).forEach((viewer) => viewer.terminalOutput(output)),
        onMessageWords: (words) => of(words.taskId).forEach((viewer) => viewer.messageWords(words)),
        onMessageDelta: (delta) => of(delta.taskId).forEach((viewer) => viewer.messageDelta(delta)),
        onStatusChanged: (change) => of(change.taskId).forEach((viewer) => viewer.statusChanged(change)),
        onResync: (taskId) => of(taskId).forEach((viewer) => viewer.resync()),
        onGlobalStatus: (change) => dispatch(taskStatusChanged(change)),
      })
    },
  })
  listener.startListening({
    // A sign-in in another tab may be by another person, who must not use a connection opened with the old token.
    matcher: isAnyOf(sessionEnded, sessionStarted),
    effect: () => {
      wanted = false
      socket?.close()
      socket = null
    },
  })

  const live: Live = {
    begin: () => begin(),
    enter(viewer) {
      viewers.add(viewer)
      if (socket?.isConnected()) tellConnected(viewer, socket)
      return () => {
        viewers.delete(viewer)
        if (of(viewer.taskId).length === 0) socket?.leave(viewer.taskId)
      }
    },
  }
  return { live, middleware: listener.middleware }
}
