/** What the server says of itself. */
import { z } from 'zod'
import { defineRead } from './call.ts'

export const getNotices = defineRead({
  path: '/notices',
  summary: 'Sentences that every page shows: how this server is set up where that matters to the person.',
  answer: { notices: z.array(z.string()) },
})
