/** API calls that change the queue of a task. */
import { chatRoutes } from '#domain/api/chat.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { editMessage, reorderQueue } from '#domain/api/chat.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { texts } from './texts.ts'

const queueApi = api.injectEndpoints({
  endpoints: (build) => ({
    editMessage: build.mutation<
      AnswerOf<typeof editMessage>,
      { readonly taskId: string; readonly messageId: string; readonly message: string }
    >({
      query: ({ taskId, messageId, message }) =>
        requestOf<typeof editMessage>(chatRoutes.editMessage, {
          params: { taskId, messageId },
          body: { message },
          fallback: texts.queue.notEdited,
        }),
    }),
    reorderQueue: build.mutation<
      AnswerOf<typeof reorderQueue>,
      { readonly taskId: string; readonly messageIds: readonly string[] }
    >({
      query: ({ taskId, messageIds }) =>
        requestOf<typeof reorderQueue>(chatRoutes.reorderQueue, {
          params: { taskId },
          body: { messageIds: [...messageIds] },
          fallback: texts.queue.notMoved,
        }),
    }),
  }),
})

export const { useEditMessageMutation, useReorderQueueMutation } = queueApi
