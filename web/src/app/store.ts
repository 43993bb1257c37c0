/** The client's store, and its live connection. */
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

/** After a session has ended in one of these ways, the personal values in the browser are removed. */
const finalEnds: readonly SessionEnd[] = ['logout', 'refused']

/** Creates the store; `signedIn` says whether a token is stored. */
export function createStore(signedIn: boolean) {
  const listener = createListenerMiddleware()
  // One person's data must not be shown to the next person.
  listener.startListening({
    matcher: isAnyOf(sessionEnded, sessionStarted),
    effect: (action, { dispatch }) => {
      dispatch(api.util.resetApiState())
      // A person who only has to sign in again keeps their drafts.
      if (sessionEnded.match(action) && finalEnds.includes(action.payload.end)) forgetPersonal()
    },
  })
  const { initiate, matchFulfilled } = authApi.endpoints.me
  listener.startListening({
    matcher: matchFulfilled,
    effect: ({ payload }) => keepFor(payload.user.id),
  })
  // After the server has refused the live connection, the user is read again: if that read is refused too, the session ends.
  listener.startListening({
    actionCreator: turnedAway,
    effect: (_action, { dispatch }) =>
      void dispatch(initiate(undefined, { forceRefetch: true, subscribe: false })),
  })
  const { live, middleware } = createLive({
    // Before onboarding is complete the server would refuse the connection.
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
    // A `null` key means that the whole storage was cleared.
    if (key !== tokenKey && key !== null) return
    dispatch(readToken() === null ? sessionEnded('elsewhere') : sessionStarted())
  })
}
