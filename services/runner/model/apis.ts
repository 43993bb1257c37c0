/** The APIs of models that the broker serves. */
import { geminiApi } from './gemini/api.ts'
import { messagesApi } from './messages/api.ts'
import { responsesApi } from './responses/api.ts'

export const modelApis = {
  messages: messagesApi,
  responses: responsesApi,
  gemini: geminiApi,
} as const
export type ModelApiName = keyof typeof modelApis
