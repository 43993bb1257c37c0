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
  // The live connection tells what changed; what is on the screen is never fetched again for having been away.
  refetchOnReconnect: false,
  endpoints: () => ({}),
})
