/** All of the state that every page needs; a page may bring a part of its own. */
import { combineSlices } from '@reduxjs/toolkit'
import { api } from '../api/api.ts'
import { sessionReducer } from '../api/session.ts'
import { deletionsReducer } from '../features/deletions/deletions.ts'
import { askingReducer } from '../features/notifications/asking.ts'
import { notificationsReducer } from '../features/notifications/notifications.ts'
import { connectionReducer } from '../live/connection.ts'
import { outboxReducer } from '../live/outbox.ts'

export const rootReducer = combineSlices({
  [api.reducerPath]: api.reducer,
  session: sessionReducer,
  connection: connectionReducer,
  outbox: outboxReducer,
  notifications: notificationsReducer,
  deletions: deletionsReducer,
  asking: askingReducer,
})
