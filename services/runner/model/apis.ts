/** The APIs of models that the broker serves. */
import { messagesApi } from './messages/api.ts'
import { responsesApi } from './responses/api.ts'

export const modelApis = {
  messages: messagesApi,
  responses: responsesApi,
} as const
export type ModelApiName = keyof typeof modelApis
