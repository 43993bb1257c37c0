/** How the live connection stands, for the pill and for clocks that must not tick on guesses. */
import { createAction, createSlice, type PayloadAction } from '@reduxjs/toolkit'
import type { TaskStatusChanged } from '#domain/api/socket.schema.ts'

export type ConnectionStatus = 'disconnected' | 'connecting' | 'connected' | 'error'

export interface ConnectionState {
  readonly status: ConnectionStatus
  /** Since when it is so, in milliseconds since 1970; `null` before it was ever tried. */
  readonly since: number | null
  /** Events still being fetched after a gap; 0 when nothing is missing. */
  readonly behind: number
  /** The connection stands, and the server has not been heard for longer than it is ever silent: it may be lost. */
  readonly quiet: boolean
  /** Why the server turned the last attempt away, in its words; `null` where it did not. */
  readonly refusal: string | null
}

const initialState: ConnectionState = {
  status: 'disconnected',
  since: null,
  behind: 0,
  quiet: false,
  refusal: null,
}

const connection = createSlice({
  name: 'connection',
  initialState,
  reducers: {
    connectionChanged: {
      prepare: (status: ConnectionStatus, refusal: string | null = null, at: number = Date.now()) => ({
        payload: { status, refusal, at },
      }),
      reducer: (
        state,
        { payload }: PayloadAction<{ status: ConnectionStatus; refusal: string | null; at: number }>,
      ): ConnectionState =>
        state.status === payload.status && state.since !== null
          ? state.refusal === payload.refusal
            ? state
            : { ...state, refusal: payload.refusal }
          : {
              status: payload.status,
              since: payload.at,
              behind: payload.status === 'connected' ? state.behind : 0,
              quiet: false,
              refusal: payload.refusal,
            },
    },
    /** Whether the server is silent. */
    quietChanged: (state, { payload }: PayloadAction<boolean>): ConnectionState =>
      state.quiet === payload ? state : { ...state, quiet: payload },
    catchingUp: (state, { payload }: PayloadAction<number>): ConnectionState => ({
      ...state,
      behind: payload,
    }),
  },
})

/** The server hung up or said no: the session may be over. */
export const turnedAway = createAction('connection/turnedAway')
export const { connectionChanged, quietChanged, catchingUp } = connection.actions
export const connectionReducer = connection.reducer

interface WithConnection {
  readonly connection: ConnectionState
}
export const selectConnection = (state: WithConnection) => state.connection
/** Whether what is on the screen is known to be so now. */
export const selectLive = (state: WithConnection) => state.connection.status === 'connected'
/** Whether the connection is lost: what is on the screen was known, and may no longer be so. While it is first made nothing is lost yet. */
export const selectLost = ({ connection: { status, since } }: WithConnection) =>
  since !== null && (status === 'disconnected' || status === 'error')

/** Some task of the person has another status, open or not: lists follow it. */
export const taskStatusChanged = createAction<TaskStatusChanged>('live/taskStatusChanged')
