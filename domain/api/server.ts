/** What the server says of itself. */
import { z } from 'zod'
import { defineCall } from './call.ts'
import { nothing } from './fields.ts'

export const getNotices = defineCall({
  method: 'GET',
  path: '/notices',
  summary: 'Sentences that every page shows: how this server is set up where that matters to the person.',
  params: nothing,
  query: nothing,
  body: nothing,
  status: 200,
  answer: z.object({ notices: z.array(z.string()) }),
  faults: ['sign_in_required'],
})
