/** The API call for the origin of a file's lines. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { provenanceRoutes } from '#domain/api/provenance.ts'
import type { getProvenance } from '#domain/api/provenance.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

export type Provenance = AnswerOf<typeof getProvenance>
export type TurnOfLines = Provenance['turns'][number]

interface Asked {
  readonly taskId: string
  readonly path: string
  /** The hash of the shown version, so that a changed file is requested again. */
  readonly hash: string
}

export const { useProvenanceQuery } = api.injectEndpoints({
  endpoints: (build) => ({
    provenance: build.query<Provenance, Asked>({
      query: ({ taskId, path }) =>
        requestOf<typeof getProvenance>(provenanceRoutes.getProvenance, {
          params: { taskId },
          query: { path },
          fallback: texts.failed,
        }),
      // Seconds: long enough to look at several lines of a file, short enough to show the lines of a turn that has just ended.
      keepUnusedDataFor: 15,
    }),
  }),
})
