/** Reads and begins the set-up of this server's GitHub App. Needs no session, since usually nobody can sign in before the App exists. */
import { setupRoutes } from '#domain/api/setup.ts'
import type { beginSetup, getSetup } from '#domain/api/setup.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { openCall } from '../../api/request.ts'
import { readToken } from '../../api/tokenStore.ts'
import { texts } from './texts.ts'

const setupApi = api.injectEndpoints({
  endpoints: (build) => ({
    setup: build.query<AnswerOf<typeof getSetup>, void>({
      queryFn: (_none, { signal }) => {
        const call = requestOf<typeof getSetup>(setupRoutes.getSetup, { fallback: texts.notFetched })
        return openCall<AnswerOf<typeof getSetup>>(call, { token: readToken(), signal })
      },
    }),
    beginSetup: build.mutation<AnswerOf<typeof beginSetup>, BodyInputOf<typeof beginSetup>>({
      queryFn: (body, { signal }) => {
        const call = requestOf<typeof beginSetup>(setupRoutes.beginSetup, { body, fallback: texts.notBegun })
        return openCall<AnswerOf<typeof beginSetup>>(call, { token: readToken(), signal })
      },
    }),
  }),
})

export const { useSetupQuery, useBeginSetupMutation } = setupApi
