/** Whether somebody is signed in, and if not, why. The token itself stays in the browser's storage, outside of the store and of logs. */
import { createSlice, type PayloadAction } from '@reduxjs/toolkit'
import { comparePositions, type Position } from '#domain/kernel/event.ts'

/**
 * `unauthorised`: the server no longer accepts the token. `lost`: it refuses to load the user. `refused`: the person no longer has access.
 * `elsewhere`: the session ended in another tab, which removes the personal values if need be.
 */
export type SessionEnd = 'none' | 'logout' | 'unauthorised' | 'lost' | 'refused' | 'elsewhere'

export interface SessionState {
  readonly signedIn: boolean
  readonly end: SessionEnd
  /** The server's message when access was refused. */
  readonly refusal: string | null
  /** The latest position of an event that the server's answers may not show yet. Reads send it as `minPosition`. */
  readonly awaiting: Position | null
}

export const initialSession: SessionState = { signedIn: false, end: 'none', refusal: null, awaiting: null }

const session = createSlice({
  name: 'session',
  initialState: initialSession,
  reducers: {
    sessionStarted: (): SessionState => ({ ...initialSession, signedIn: true }),
    sessionEnded: {
      prepare: (end: SessionEnd, refusal: string | null = null) => ({ payload: { end, refusal } }),
      reducer: (_state, { payload }: PayloadAction<Pick<SessionState, 'end' | 'refusal'>>): SessionState => ({
        ...initialSession,
        ...payload,
      }),
    },
    readsAwait: (state, { payload }: PayloadAction<Position>): SessionState =>
      state.awaiting !== null && comparePositions(payload, state.awaiting) <= 0
        ? state
        : { ...state, awaiting: payload },
    /** The server cannot show the position, so reads no longer wait for it. */
    readsGaveUp: (state, { payload }: PayloadAction<Position>): SessionState =>
      state.awaiting === payload ? { ...state, awaiting: null } : state,
  },
})

export const { sessionStarted, sessionEnded, readsAwait, readsGaveUp } = session.actions
export const sessionReducer = session.reducer

interface WithSession {
  readonly session: SessionState
}
export const selectSignedIn = (state: WithSession) => state.session.signedIn
export const selectSessionEnd = (state: WithSession) => state.session.end
export const selectRefusal = (state: WithSession) => state.session.refusal
