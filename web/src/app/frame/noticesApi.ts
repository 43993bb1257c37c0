/** What the server says of how it is set up. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { serverRoutes } from '#domain/api/server.ts'
import type { getNotices } from '#domain/api/server.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'

export const noticesApi = api.injectEndpoints({
  endpoints: (build) => ({
    notices: build.query<AnswerOf<typeof getNotices>, void>({
      // Nobody is told when they do not come.
      query: () => requestOf<typeof getNotices>(serverRoutes.getNotices, { fallback: '' }),
    }),
  }),
})

export const { useNoticesQuery } = noticesApi
