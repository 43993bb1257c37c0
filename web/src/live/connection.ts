/** The state of the live connection, for its indicator and for clocks that must not tick on outdated data. */
import { createAction, createSlice, type PayloadAction } from '@reduxjs/toolkit'
import type { TaskStatusChanged } from '#domain/api/socket.schema.ts'

type ConnectionStatus = 'disconnected' | 'connecting' | 'connected' | 'error'

export interface ConnectionState {
  readonly status: ConnectionStatus
  /** When the connection entered this state, in milliseconds since 1970; `null` before the first attempt. */
  readonly since: number | null
  /** How many received events and pieces of output cannot be shown yet, because earlier ones are missing; 0 when nothing is missing. */
  readonly behind: number
  /** Whether the server has been silent for longer than usual on an open connection, so that the connection may be lost. */
  readonly quiet: boolean
  /** The server's words when it refused the last attempt; `null` when it did not refuse. */
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
    /** The server has become silent, or has sent something again. */
    quietChanged: (state, { payload }: PayloadAction<boolean>): ConnectionState =>
      state.quiet === payload ? state : { ...state, quiet: payload },
    catchingUp: (state, { payload }: PayloadAction<number>): ConnectionState => ({
      ...state,
      behind: payload,
    }),
  },
})

/** The server closed or refused the connection: the session may have ended. */
export const turnedAway = createAction('connection/turnedAway')
export const { connectionChanged, quietChanged, catchingUp } = connection.actions
export const connectionReducer = connection.reducer

interface WithConnection {
  readonly connection: ConnectionState
}
export const selectConnection = (state: WithConnection) => state.connection
/** Whether the connection is up, so that the data on the screen counts as current. */
export const selectLive = (state: WithConnection) => state.connection.status === 'connected'
/** Whether the connection is lost, so that the data on the screen may be outdated. False during the first attempt. */
export const selectLost = ({ connection: { status, since } }: WithConnection) =>
  since !== null && (status === 'disconnected' || status === 'error')

/** The status of one of the person's tasks changed, whether or not its page is open; lists of tasks listen to this. */
export const taskStatusChanged = createAction<TaskStatusChanged>('live/taskStatusChanged')
