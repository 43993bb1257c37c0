/** The client's state, and the connection that keeps it live. */
import { configureStore, createListenerMiddleware, isAnyOf } from '@reduxjs/toolkit'
import { api } from '../api/api.ts'
import { initialSession, sessionEnded, sessionStarted } from '../api/session.ts'
import { authApi } from '../features/auth/authApi.ts'
import { followStatus } from '../features/tasks/followStatus.ts'
import { turnedAway } from '../live/connection.ts'
import { createLive } from '../live/live.ts'
import { forgetPersonal } from './persisted.ts'
import { rootReducer } from './rootReducer.ts'

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
  const { initiate, matchFulfilled } = authApi.endpoints.me
  // A refusal of the user ends the session, as it does for any other call.
  listener.startListening({
    actionCreator: turnedAway,
    effect: (_action, { dispatch }) =>
      void dispatch(initiate(undefined, { forceRefetch: true, subscribe: false })),
  })
  const { live, middleware } = createLive({
    // Before the onboarding is complete the server would turn the connection away.
    userKnown: (action) => matchFulfilled(action) && action.payload.user.onboardingCompleted,
  })
  const store = configureStore({
    reducer: rootReducer,
    preloadedState: { session: { ...initialSession, signedIn } },
    middleware: (defaults) =>
      defaults().prepend(listener.middleware, middleware, followStatus()).concat(api.middleware),
  })
  return { store, live }
}
