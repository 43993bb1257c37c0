/** Reads and sets the person's own keys for the models of agents. */
import { agentKeyRoutes } from '#domain/api/agentKeys.ts'
import type { listAgentKeys, setAgentKey } from '#domain/api/agentKeys.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { aboutServerApi } from '../../api/aboutServerApi.ts'
import { requestOf } from '../../api/endpoint.ts'
import { keyTexts } from '../agents/keyTexts.ts'
import { agentKeyTexts } from './texts.ts'

const agentKeysApi = api.injectEndpoints({
  endpoints: (build) => ({
    agentKeys: build.query<AnswerOf<typeof listAgentKeys>, void>({
      query: () =>
        requestOf<typeof listAgentKeys>(agentKeyRoutes.listAgentKeys, { fallback: agentKeyTexts.notFetched }),
      providesTags: ['User'],
    }),
    setAgentKey: build.mutation<AnswerOf<typeof setAgentKey>, BodyInputOf<typeof setAgentKey>>({
      query: (body) =>
        requestOf<typeof setAgentKey>(agentKeyRoutes.setAgentKey, { body, fallback: keyTexts.notSaved }),
      invalidatesTags: (_answer, error) => (error === undefined ? ['User'] : []),
      // More agents may be able to run with the new key, so the agents are read again.
      async onQueryStarted(_body, { dispatch, queryFulfilled }) {
        if (await queryFulfilled.then(Boolean, () => false))
          await dispatch(
            aboutServerApi.endpoints.agents.initiate(undefined, { forceRefetch: true, subscribe: false }),
          )
      },
    }),
  }),
})

export const { useAgentKeysQuery, useSetAgentKeyMutation } = agentKeysApi
