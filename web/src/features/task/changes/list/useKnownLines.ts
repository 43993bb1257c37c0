/** Lines around the changes, loaded on request. These lines are from the old version, which does not change while the task goes on. */
import { useCallback, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getFileLines } from '#domain/api/tasks.schema.ts'
import { notifiedFailure } from '../../../notifications/notifications.ts'
import type { KnownLines } from '../diff/diffRows.ts'
import { texts } from '../texts.ts'
import { api } from '../../../../api/api.ts'
import { requestOf } from '../../../../api/endpoint.ts'

export const linesAtOnce = 20

export function useKnownLines(taskId: string) {
  const dispatch = useDispatch()
  const [fetchLines] = useLazyFileLinesQuery()
  const [known, setKnown] = useState<ReadonlyMap<string, KnownLines>>(new Map())
  const pending = useRef(new Set<string>())
  /** Requests the lines `from` to `to` of a file, including both. While this request is pending, it is not sent again. */
  const show = useCallback(
    async (path: string, from: number, to: number) => {
      const question = `${path}\n${from}\n${to}`
      if (pending.current.has(question)) return
      pending.current.add(question)
      const { data, error } = await fetchLines({ taskId, path, from, to })
      pending.current.delete(question)
      if (data === undefined || !Array.isArray(data.lines)) {
        return void dispatch(notifiedFailure(texts.linesNotRead, error))
      }
      setKnown((before) => {
        const lines = new Map(before.get(path)?.lines)
        data.lines.forEach((line, index) => lines.set(data.from + index, line))
        return new Map(before).set(path, { lines, total: data.total })
      })
    },
    [fetchLines, dispatch, taskId],
  )
  return { known, show }
}

export type KnownLinesOfFiles = ReturnType<typeof useKnownLines>

interface LinesRequest {
  readonly taskId: string
  readonly path: string
  readonly from: number
  readonly to: number
}

const changesApi = api.injectEndpoints({
  endpoints: (build) => ({
    fileLines: build.query<AnswerOf<typeof getFileLines>, LinesRequest>({
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

/** The API call for lines of a file. Only the panel of changes needs this call. */
export const { useLazyFileLinesQuery } = changesApi
