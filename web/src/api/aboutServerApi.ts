/** The server about itself: its agents, and notices about its configuration. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getAgents, getNotices } from '#domain/api/server.schema.ts'
import { serverRoutes } from '#domain/api/server.ts'
import { api } from './api.ts'
import { requestOf } from './endpoint.ts'

export const aboutServerApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** The agents that can run, and what is missing for each of the others. */
    agents: build.query<AnswerOf<typeof getAgents>, void>({
      query: () =>
        requestOf<typeof getAgents>(serverRoutes.getAgents, { fallback: 'Failed to fetch agents' }),
    }),
    /** When the notices cannot be loaded, nothing is shown. */
    notices: build.query<AnswerOf<typeof getNotices>, void>({
      query: () => requestOf<typeof getNotices>(serverRoutes.getNotices, { fallback: '' }),
    }),
  }),
})

export const { useAgentsQuery, useNoticesQuery } = aboutServerApi
