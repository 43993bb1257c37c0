/** What the server says of how it is set up. */
import type { AnswerOf } from '#domain/api/call.ts'
import type { getNotices } from '#domain/api/server.ts'
import { api } from '../api/api.ts'
import { frameTexts as texts } from './frameTexts.ts'

export const noticesApi = api.injectEndpoints({
  endpoints: (build) => ({
    notices: build.query<AnswerOf<typeof getNotices>, void>({
      query: () => ({ path: '/notices', fallback: texts.noticesMissing }),
    }),
  }),
})

export const { useNoticesQuery } = noticesApi
