/** The server's notices about its configuration. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { serverRoutes } from '#domain/api/server.ts'
import type { getNotices } from '#domain/api/server.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'

export const noticesApi = api.injectEndpoints({
  endpoints: (build) => ({
    notices: build.query<AnswerOf<typeof getNotices>, void>({
      // A failure is not shown to anybody.
      query: () => requestOf<typeof getNotices>(serverRoutes.getNotices, { fallback: '' }),
    }),
  }),
})

export const { useNoticesQuery } = noticesApi
