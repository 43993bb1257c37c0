/** The root reducer. Its own slices are needed by every page; a feature injects its slice when its module loads. */
import { combineSlices } from '@reduxjs/toolkit'
import { api } from '../api/api.ts'
import { sessionReducer } from '../api/session.ts'
import { connectionReducer } from '../live/connection.ts'
import { outboxReducer } from '../live/outbox.ts'

/** Slices that features inject, by their path. A feature extends this interface in the file that calls `rootReducer.inject`. */
export interface FeatureSlices {}

export const rootReducer = combineSlices({
  [api.reducerPath]: api.reducer,
  session: sessionReducer,
  connection: connectionReducer,
  outbox: outboxReducer,
}).withLazyLoadedSlices<FeatureSlices>()

export type RootState = ReturnType<typeof rootReducer>
