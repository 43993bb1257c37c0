/** The calls of the changes alone; loaded with them. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getFileLines } from '#domain/api/tasks.schema.ts'
import { api } from '../../../api/api.ts'
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
      query: ({ taskId, path, from, to }) => ({
        path: `/tasks/${encodeURIComponent(taskId)}/git/file`,
        query: { path, from, to },
        fallback: texts.linesNotRead,
      }),
      structuralSharing: false,
    }),
  }),
})

export const { useLazyFileLinesQuery } = changesApi
