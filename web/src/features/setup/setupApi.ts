/** Making the GitHub App of this server: asked with a session where there is one, since nobody can sign in before. */
import { setupRoutes } from '#domain/api/setup.ts'
import type { beginSetup, getSetup } from '#domain/api/setup.schema.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import type { ApiFault } from '../../api/fault.ts'
import { newId } from '../../api/newId.ts'
import { request, type ApiCall } from '../../api/request.ts'
import { readToken } from '../../api/tokenStore.ts'
import { texts } from './texts.ts'

/** The answer is the call's, as the contract says. */
async function asked<Answer>(
  call: ApiCall,
  { signal }: { readonly signal: AbortSignal },
): Promise<{ data: Answer } | { error: ApiFault }> {
  const answer = await request(call, {
    fetch: (...args) => fetch(...args),
    token: readToken(),
    signal,
    newId,
  })
  return 'error' in answer ? answer : { data: answer.data as Answer }
}

const setupApi = api.injectEndpoints({
  endpoints: (build) => ({
    setup: build.query<AnswerOf<typeof getSetup>, void>({
      queryFn: (_none, queried) =>
        asked<AnswerOf<typeof getSetup>>(
          requestOf<typeof getSetup>(setupRoutes.getSetup, { fallback: texts.notFetched }),
          queried,
        ),
    }),
    beginSetup: build.mutation<AnswerOf<typeof beginSetup>, BodyInputOf<typeof beginSetup>>({
      queryFn: (body, queried) =>
        asked<AnswerOf<typeof beginSetup>>(
          requestOf<typeof beginSetup>(setupRoutes.beginSetup, { body, fallback: texts.notBegun }),
          queried,
        ),
    }),
  }),
})

export const { useSetupQuery, useBeginSetupMutation } = setupApi
