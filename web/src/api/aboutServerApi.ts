/** Reads the agents of the server, and notices about its configuration. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getAgents, getNotices } from '#domain/api/server.schema.ts'
import { serverRoutes } from '#domain/api/server.ts'
import { api } from './api.ts'
import { requestOf } from './endpoint.ts'

export const aboutServerApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** The server's agents: whether each is installed, its models and, if it cannot run, what is missing. */
    agents: build.query<AnswerOf<typeof getAgents>, void>({
      query: () =>
        requestOf<typeof getAgents>(serverRoutes.getAgents, { fallback: 'Failed to fetch agents' }),
    }),
    /** Notices about the server's configuration. When they cannot be loaded, the page shows no message. */
    notices: build.query<AnswerOf<typeof getNotices>, void>({
      query: () => requestOf<typeof getNotices>(serverRoutes.getNotices, { fallback: '' }),
    }),
  }),
})

export const { useAgentsQuery, useNoticesQuery } = aboutServerApi
