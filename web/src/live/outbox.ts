/** Ids of messages written while offline: they are sent when the connection is back. */
import { createSlice, type PayloadAction } from '@reduxjs/toolkit'
import { sessionEnded } from '../api/session.ts'

const initialState: readonly string[] = []

const outbox = createSlice({
  name: 'outbox',
  initialState,
  reducers: {
    writingWaits: (waiting, { payload }: PayloadAction<string>) =>
      waiting.includes(payload) ? waiting : [...waiting, payload],
    writingWent: (waiting, { payload }: PayloadAction<string>) =>
      waiting.includes(payload) ? waiting.filter((id) => id !== payload) : waiting,
  },
  extraReducers: (builder) => builder.addCase(sessionEnded, () => initialState),
})

export const { writingWaits, writingWent } = outbox.actions
export const outboxReducer = outbox.reducer

/** The messages that wait for the connection, oldest first. */
export const selectWaiting = (state: { readonly outbox: readonly string[] }) => state.outbox
