/** Loads earlier messages and tool calls than the page that is loaded when a task is opened. */
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import { taskApi } from '../taskApi.ts'
import { earlierLoaded, type OpenTask } from '../taskSlice.ts'

/** Page sizes when going back: messages and tool calls, or only messages in larger pages for a search. */
const pages = { both: 500, messages: 2_000 } as const

/** Loads one more page of both, or of messages alone; returns whether it succeeded. `beforeShown` is called just before they are shown. */
export async function readEarlier(
  { taskId, chat, logs, seen }: Pick<OpenTask, 'taskId' | 'chat' | 'logs' | 'seen'>,
  dispatch: ThunkDispatch<unknown, unknown, UnknownAction>,
  what: keyof typeof pages,
  beforeShown: () => void,
): Promise<boolean> {
  if (taskId === null) return false
  const limit = pages[what]
  /** The answer includes everything that the page already knows. */
  const queryOf = ({ before }: Pick<OpenTask['chat' | 'logs'], 'before'>) =>
    before === null ? null : { taskId, before, limit, minPosition: seen ?? undefined }
  const fresh = { forceRefetch: true, subscribe: false } as const
  const [messagesBefore, logsBefore] = [queryOf(chat), what === 'both' ? queryOf(logs) : null]
  const [earlierChat, earlierLogs] = await Promise.all([
    messagesBefore && dispatch(taskApi.endpoints.chat.initiate(messagesBefore, fresh)),
    logsBefore && dispatch(taskApi.endpoints.commands.initiate(logsBefore, fresh)),
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
