/** Reads a task's folders and files. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { findTaskFiles } from '#domain/api/taskFiles.schema.ts'
import { taskFileRoutes } from '#domain/api/taskFiles.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

interface TaskPath {
  readonly taskId: string
  readonly path: string
}

export interface ReadPath extends TaskPath {
  /** A number that grows when the files may have changed, so that they are read again. */
  readonly reading: number
}

export const filesApi = api.injectEndpoints({
  endpoints: (build) => ({
    pathInTask: build.query<AnswerOf<typeof findTaskFiles>, ReadPath>({
      query: ({ taskId, path }) =>
        requestOf<typeof findTaskFiles>(taskFileRoutes.findTaskFiles, {
          params: { taskId },
          query: { path },
          fallback: texts.notRead,
        }),
      // The answers of an earlier `reading` are not used again.
      keepUnusedDataFor: 1,
      structuralSharing: false,
    }),
    pathsInTask: build.query<
      AnswerOf<typeof findTaskFiles>,
      { readonly taskId: string; readonly search: string }
    >({
      query: ({ taskId, search }) =>
        requestOf<typeof findTaskFiles>(taskFileRoutes.findTaskFiles, {
          params: { taskId },
          query: { search },
          fallback: texts.notRead,
        }),
      keepUnusedDataFor: 1,
    }),
    wholeFile: build.query<AnswerOf<typeof findTaskFiles>, TaskPath>({
      query: ({ taskId, path }) =>
        requestOf<typeof findTaskFiles>(taskFileRoutes.findTaskFiles, {
          params: { taskId },
          query: { path, download: 'true' },
          fallback: texts.notDownloaded,
        }),
      keepUnusedDataFor: 0,
    }),
  }),
})

export const { usePathInTaskQuery, usePathsInTaskQuery } = filesApi
