/** What the server says of itself, and what it is told of how it is used. */
import { z } from 'zod'
import { defineRead, defineWrite } from './call.ts'
import { success } from './fields.ts'

export const getNotices = defineRead({
  path: '/notices',
  summary: 'Notices shown on every page about how this server is set up.',
  answer: { notices: z.array(z.string()) },
})

export const countPageView = defineWrite({
  method: 'POST',
  path: '/page-views',
  summary:
    'Counts a page view by address, without recording who viewed it. Unknown addresses are counted as other.',
  open: 'anybody',
  body: z.object({
    /** As in `pageRoutes.ts`. */
    route: z.string().max(200),
  }),
  answer: success,
})
