/** The client's state, and the connection that keeps it live. */
import { configureStore, createListenerMiddleware, isAnyOf } from '@reduxjs/toolkit'
import { api } from '../api/api.ts'
import { initialSession, sessionEnded, sessionStarted, type SessionEnd } from '../api/session.ts'
import { readToken, tokenKey } from '../api/tokenStore.ts'
import { authApi } from '../features/auth/authApi.ts'
import { followStatus } from '../features/tasks/followStatus.ts'
import { turnedAway } from '../live/connection.ts'
import { createLive } from '../live/live.ts'
import { forgetPersonal, keepFor } from '../state/persisted.ts'
import { rootReducer } from '../state/rootReducer.ts'

/** After these ends of a session the same person may sign in again. */
const mayComeBack: readonly SessionEnd[] = ['unauthorised', 'lost']

/** Makes the store; `signedIn` when a token was kept from before. */
export function createStore(signedIn: boolean) {
  const listener = createListenerMiddleware()
  // What one person loaded is not for the next.
  listener.startListening({
    matcher: isAnyOf(sessionEnded, sessionStarted),
    effect: (action, { dispatch }) => {
      dispatch(api.util.resetApiState())
      // Whoever is only asked to sign in again finds what they were writing.
      if (sessionEnded.match(action) && !mayComeBack.includes(action.payload.end)) forgetPersonal()
    },
  })
  const { initiate, matchFulfilled } = authApi.endpoints.me
  listener.startListening({
    matcher: matchFulfilled,
    effect: ({ payload }) => keepFor(payload.user.id),
  })
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

/** Signing in or out in one tab does so in all. */
export function followOtherTabs({
  dispatch,
}: Pick<ReturnType<typeof createStore>['store'], 'dispatch'>): void {
  window.addEventListener('storage', ({ key }) => {
    // Without a key all of the storage was taken away.
    if (key !== tokenKey && key !== null) return
    dispatch(readToken() === null ? sessionEnded('logout') : sessionStarted())
  })
}
