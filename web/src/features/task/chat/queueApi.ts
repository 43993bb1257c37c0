/** The calls that change what waits in a task. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { editMessage, reorderQueue } from '#domain/api/chat.schema.ts'
import { api } from '../../../api/api.ts'
import { texts } from './texts.ts'

const pathOf = (taskId: string) => `/tasks/${encodeURIComponent(taskId)}`

const queueApi = api.injectEndpoints({
  endpoints: (build) => ({
    editMessage: build.mutation<
      AnswerOf<typeof editMessage>,
      { readonly taskId: string; readonly messageId: string; readonly message: string }
    >({
      query: ({ taskId, messageId, message }) => ({
        method: 'PUT',
        path: `${pathOf(taskId)}/chat/${encodeURIComponent(messageId)}`,
        body: { message },
        fallback: texts.queue.notEdited,
      }),
    }),
    reorderQueue: build.mutation<
      AnswerOf<typeof reorderQueue>,
      { readonly taskId: string; readonly messageIds: readonly string[] }
    >({
      query: ({ taskId, messageIds }) => ({
        method: 'PUT',
        path: `${pathOf(taskId)}/queue`,
        body: { messageIds },
        fallback: texts.queue.notMoved,
      }),
    }),
  }),
})

export const { useEditMessageMutation, useReorderQueueMutation } = queueApi
