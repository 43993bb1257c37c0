/** The one API slice; each feature adds its endpoints to it. */
import { createApi } from '@reduxjs/toolkit/query/react'
import { baseQuery } from './baseQuery.ts'

export const api = createApi({
  reducerPath: 'api',
  baseQuery,
  tagTypes: [
    'User',
    'Sessions',
    'GitHub',
    'Projects',
    'Project',
    'Tasks',
    'Task',
    'Chat',
    'Commands',
    'Diff',
  ],
  // The live connection reports what changed, so nothing is fetched again when the network is back.
  refetchOnReconnect: false,
  endpoints: () => ({}),
})
