/** API calls for the ports that listen in a task's sandbox. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { previewRoutes } from '#domain/api/preview.ts'
import type { listPorts, openPort } from '#domain/api/preview.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { ofTask } from '../taskCall.ts'
import { texts } from './texts.ts'

interface PortOfTask {
  readonly taskId: string
  readonly port: number
}

export const { useListPortsQuery, useOpenPortMutation } = api.injectEndpoints({
  endpoints: (build) => ({
    listPorts: build.query<AnswerOf<typeof listPorts>, string>({
      query: ofTask<typeof listPorts>(previewRoutes.listPorts, texts.notFetched),
      // Programs start and end at any time, so an answer is not kept.
      keepUnusedDataFor: 0,
    }),
    openPort: build.mutation<AnswerOf<typeof openPort>, PortOfTask>({
      query: ({ taskId, port }) =>
        requestOf<typeof openPort>(previewRoutes.openPort, {
          params: { taskId, port: String(port) },
          fallback: texts.failed,
        }),
    }),
  }),
})
