/** The agents of this server: which can run, and what the others are missing. */
import { serverRoutes } from '#domain/api/server.ts'
import type { getAgents } from '#domain/api/server.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { texts } from './texts.ts'

export const agentsApi = api.injectEndpoints({
  endpoints: (build) => ({
    agents: build.query<AnswerOf<typeof getAgents>, void>({
      query: () => requestOf<typeof getAgents>(serverRoutes.getAgents, { fallback: texts.notFetched }),
    }),
  }),
})

export const { useAgentsQuery } = agentsApi
