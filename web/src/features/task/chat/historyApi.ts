/** Loads earlier messages and tool calls than the page that is loaded when a task is opened. */
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import { chatRoutes } from '#domain/api/chat.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getChat, getCommands } from '#domain/api/chat.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { earlierLoaded, type OpenTask } from '../taskSlice.ts'
import { texts as taskTexts } from '../texts.ts'

interface PageQuery {
  readonly taskId: string
  readonly before: Position
  readonly limit: number
  /** The answer must include everything that the page already knows. */
  readonly minPosition: Position | undefined
}

/** Page sizes when going back: messages and tool calls, or only messages in larger pages for a search. */
const pages = { both: 500, messages: 2_000 } as const

const historyApi = api.injectEndpoints({
  endpoints: (build) => ({
    earlierChat: build.query<AnswerOf<typeof getChat>, PageQuery>({
      query: ({ taskId, ...query }) =>
        requestOf<typeof getChat>(chatRoutes.getChat, {
          params: { taskId },
          query,
          fallback: taskTexts.chatNotFetched,
        }),
      keepUnusedDataFor: 0,
    }),
    earlierCommands: build.query<AnswerOf<typeof getCommands>, PageQuery>({
      query: ({ taskId, ...query }) =>
        requestOf<typeof getCommands>(chatRoutes.getCommands, {
          params: { taskId },
          query,
          fallback: taskTexts.commandsNotFetched,
        }),
      keepUnusedDataFor: 0,
    }),
  }),
})

/** Loads one more page of both, or of messages alone; returns whether it succeeded. `beforeShown` is called just before they are shown. */
export async function readEarlier(
  { taskId, chat, logs, seen }: Pick<OpenTask, 'taskId' | 'chat' | 'logs' | 'seen'>,
  dispatch: ThunkDispatch<unknown, unknown, UnknownAction>,
  what: keyof typeof pages,
  beforeShown: () => void,
): Promise<boolean> {
  if (taskId === null) return false
  const limit = pages[what]
  const queryOf = ({ before }: Pick<OpenTask['chat' | 'logs'], 'before'>): PageQuery | null =>
    before === null ? null : { taskId, before, limit, minPosition: seen ?? undefined }
  const fresh = { forceRefetch: true, subscribe: false } as const
  const [messagesBefore, logsBefore] = [queryOf(chat), what === 'both' ? queryOf(logs) : null]
  const [earlierChat, earlierLogs] = await Promise.all([
    messagesBefore && dispatch(historyApi.endpoints.earlierChat.initiate(messagesBefore, fresh)),
    logsBefore && dispatch(historyApi.endpoints.earlierCommands.initiate(logsBefore, fresh)),
  ])
  if (earlierChat?.isError || earlierLogs?.isError) return false
  const messages = earlierChat?.data?.messages ?? []
  const calls = earlierLogs?.data?.logs ?? []
  beforeShown()
  dispatch(
    earlierLoaded({
      taskId,
      messages,
      logs: calls,
      more: {
        chat: messages.length >= limit,
        logs: logsBefore === null ? logs.before !== null : calls.length >= limit,
      },
    }),
  )
  return true
}
