/** Reads the addresses of a task's artifacts. */
import { artifactRoutes } from '#domain/api/artifacts.ts'
import type { listArtifacts } from '#domain/api/artifacts.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

interface AddressQuery {
  readonly taskId: string
  /** The number of artifacts of one turn that are shown as cards. When it changes, the addresses are fetched again. */
  readonly count: number
}

const artifactsApi = api.injectEndpoints({
  endpoints: (build) => ({
    artifactAddresses: build.query<Readonly<Record<string, string>>, AddressQuery>({
      query: ({ taskId }) =>
        requestOf<typeof listArtifacts>(artifactRoutes.listArtifacts, {
          params: { taskId },
          fallback: texts.notRead,
        }),
      transformResponse: ({ artifacts }: AnswerOf<typeof listArtifacts>) =>
        Object.fromEntries(artifacts.map(({ id, url }) => [id, url])),
      keepUnusedDataFor: 0,
    }),
  }),
})

export const { useArtifactAddressesQuery } = artifactsApi
