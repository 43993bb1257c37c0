/**
 * The live connection of the signed-in product. Listener middleware owns the one socket: it opens when the user is known and closes when the session
 * ends. Viewers join their rooms on each connection, so that a restored connection is joined like a new one.
 */
import { createListenerMiddleware, type Dispatch, isAnyOf, type UnknownAction } from '@reduxjs/toolkit'
import { sessionEnded, sessionStarted } from '../api/session.ts'
import { connectionChanged } from './connection.ts'
import type { LiveSocket } from './liveSocket.ts'
import type { openSocket } from './socket.ts'
import type { Viewer } from './viewer.ts'

export interface Live {
  /** Allows the connection to open. Called after the first render, which loading the socket would delay. */
  begin(): void
  /** Watches a task until the returned function is called. */
  enter(viewer: Viewer): () => void
}

/** How long to wait before loading a failed chunk again, in milliseconds. */
const reloadDelayMs = 3_000
/** Said from the second failure on, because some browsers remember a failed import and never try it again. */
const notLoaded = 'Live updates could not be downloaded. If you are online, reload the page.'

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
  let isSignedIn = false
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))

  /** Loads the chunk, retrying until the session ends; `null` once the session has ended. */
  const loaded = async (load: typeof loadSocket, dispatch: Dispatch) => {
    for (let refusal: string | null = null; ; refusal = notLoaded) {
      const chunk = await load().catch(() => null)
      if (!isSignedIn) return null
      if (chunk !== null) return chunk
      dispatch(connectionChanged('disconnected', refusal))
      await new Promise((resolve) => setTimeout(resolve, reloadDelayMs))
      if (!isSignedIn) return null
    }
  }
  const of = (taskId: string) => [...viewers].filter((viewer) => viewer.taskId === taskId)
  const tellConnected = (viewer: Viewer, on: LiveSocket) =>
    viewer.connected((last) => on.join(viewer.taskId, last), on)

  listener.startListening({
    predicate: (action) => userKnown(action),
    effect: async (_action, { dispatch }) => {
      if (isSignedIn) return
      isSignedIn = true
      await begun
      const chunk = await loaded(loadSocket, dispatch)
      // The session may have ended while the chunk was loading.
      if (chunk === null || socket !== null) return
      socket = chunk.openSocket({
        dispatch,
        onConnect: (on) => viewers.forEach((viewer) => tellConnected(viewer, on)),
        onTaskMessage: (taskId, deliver) => of(taskId).forEach(deliver),
      })
    },
  })
  listener.startListening({
    // A sign-in in another tab may be by another person, who must not use a connection opened with the old token.
    matcher: isAnyOf(sessionEnded, sessionStarted),
    effect: () => {
      isSignedIn = false
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
