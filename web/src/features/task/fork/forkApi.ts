/** API calls for creating tasks from turns, and for undoing turns. */
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import { forkRoutes } from '#domain/api/fork.ts'
import type { forkTask, previewUndo, undoTurn } from '#domain/api/fork.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

export interface TurnOfTask {
  readonly taskId: string
  readonly executionId: string
}

const forkApi = api.injectEndpoints({
  endpoints: (build) => ({
    forkTask: build.mutation<
      AnswerOf<typeof forkTask>,
      BodyInputOf<typeof forkTask> & { readonly taskId: string }
    >({
      query: ({ taskId, ...body }) =>
        requestOf<typeof forkTask>(forkRoutes.forkTask, {
          params: { taskId },
          body,
          key: body.id,
          fallback: texts.fork.failed,
        }),
      invalidatesTags: (answer) =>
        answer === undefined ? [] : ['Tasks', 'Projects', { type: 'Project', id: answer.task.projectId }],
    }),
    undoTurn: build.mutation<AnswerOf<typeof undoTurn>, TurnOfTask>({
      query: ({ taskId, executionId }) =>
        requestOf<typeof undoTurn>(forkRoutes.undoTurn, {
          params: { taskId },
          body: { executionId },
          fallback: texts.undo.failed,
        }),
    }),
    undoPreview: build.query<AnswerOf<typeof previewUndo>, TurnOfTask>({
      query: ({ taskId, executionId }) =>
        requestOf<typeof previewUndo>(forkRoutes.previewUndo, {
          params: { taskId },
          query: { executionId },
          fallback: texts.undo.failed,
        }),
      // The files may change at any time, so an answer is not kept.
      keepUnusedDataFor: 0,
    }),
  }),
})

export const { useForkTaskMutation, useUndoTurnMutation, useUndoPreviewQuery } = forkApi
