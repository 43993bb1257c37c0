/** The client's state: answers of the server, the session, the live connection, notifications. */
import { configureStore, createListenerMiddleware, isAnyOf } from '@reduxjs/toolkit'
import { api } from '../api/api.ts'
import { initialSession, sessionEnded, sessionReducer, sessionStarted } from '../api/session.ts'
import { connectionReducer } from '../live/connection.ts'
import { notificationsReducer } from '../features/notifications/notifications.ts'
import { forgetPersonal } from './persisted.ts'

/** Makes the store; `signedIn` when a token was kept from before. */
export function createStore(signedIn: boolean) {
  const listener = createListenerMiddleware()
  // What one person loaded is not for the next.
  listener.startListening({
    matcher: isAnyOf(sessionEnded, sessionStarted),
    effect: (action, { dispatch }) => {
      dispatch(api.util.resetApiState())
      if (sessionEnded.match(action)) forgetPersonal()
    },
  })
  return configureStore({
    reducer: {
      [api.reducerPath]: api.reducer,
      session: sessionReducer,
      connection: connectionReducer,
      notifications: notificationsReducer,
    },
    preloadedState: { session: { ...initialSession, signedIn } },
    middleware: (defaults) => defaults().prepend(listener.middleware).concat(api.middleware),
  })
}

export type Store = ReturnType<typeof createStore>
