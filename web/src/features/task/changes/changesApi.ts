/** API calls that only the changes need, loaded with them. */
import { taskRoutes } from '#domain/api/tasks.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getFileLines } from '#domain/api/tasks.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

interface LinesAsked {
  readonly taskId: string
  readonly path: string
  readonly from: number
  readonly to: number
}

const changesApi = api.injectEndpoints({
  endpoints: (build) => ({
    fileLines: build.query<AnswerOf<typeof getFileLines>, LinesAsked>({
      query: ({ taskId, path, from, to }) =>
        requestOf<typeof getFileLines>(taskRoutes.getFileLines, {
          params: { taskId },
          query: { path, from, to },
          fallback: texts.linesNotRead,
        }),
      structuralSharing: false,
    }),
  }),
})

export const { useLazyFileLinesQuery } = changesApi
