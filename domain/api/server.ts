/** What the server says of itself, and what it is told of how it is used. */
import { z } from 'zod'
import { defineRead, defineWrite } from './call.ts'
import { success } from './fields.ts'

export const getNotices = defineRead({
  path: '/notices',
  summary: 'Sentences that every page shows: how this server is set up where that matters to the person.',
  answer: { notices: z.array(z.string()) },
})

export const countPageView = defineWrite({
  method: 'POST',
  path: '/page-views',
  summary:
    'Tells that a page was viewed. It is counted by its address, and of nobody; an address that is none is counted as other.',
  open: 'anybody',
  body: z.object({
    /** As in `pageRoutes.ts`. */
    route: z.string().max(200),
  }),
  answer: success,
})
