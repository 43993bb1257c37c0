/** The API call for the state of a task's record. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { historyRoutes } from '#domain/api/history.ts'
import type { getTaskRecord } from '#domain/api/history.schema.ts'
import { api } from '../../../api/api.ts'
import { ofTask } from '../taskCall.ts'
import { recordTexts } from './recordTexts.ts'

export type TaskRecord = AnswerOf<typeof getTaskRecord>

export const { useTaskRecordQuery } = api.injectEndpoints({
  endpoints: (build) => ({
    taskRecord: build.query<TaskRecord, string>({
      query: ofTask<typeof getTaskRecord>(historyRoutes.getTaskRecord, recordTexts.notFetched),
    }),
  }),
})
