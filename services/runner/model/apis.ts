/** The APIs of models that the broker serves. */
import { messagesApi } from './messages/api.ts'

export const modelApis = {
  messages: messagesApi,
} as const
export type ModelApiName = keyof typeof modelApis
