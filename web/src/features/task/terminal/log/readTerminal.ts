/** Reads a task's output from the server without the store, which is not made for thousands of pieces. */
import { chatRoutes } from '#domain/api/chat.ts'
import { limits } from '#domain/api/limits.ts'
import type { getTerminal } from '#domain/api/chat.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { requestOf } from '../../../../api/endpoint.ts'
import { logReason } from '../../../../api/logFailure.ts'
import { newId } from '../../../../api/newId.ts'
import { request } from '../../../../api/request.ts'
import { readToken } from '../../../../api/tokenStore.ts'
import { texts as taskTexts } from '../../texts.ts'

type TerminalAnswer = AnswerOf<typeof getTerminal>

/** How many pieces are read at once; one may be as little as 50 ms of output. */
const pieces = limits.pageSize

/** The latest output, or why there is none. A 401 is handled by the calls made at the same time. */
export async function readTerminal(
  taskId: string,
  minPosition: Position | undefined,
  signal: AbortSignal,
): Promise<
  | { readonly data: TerminalAnswer; /** Nothing was printed before it. */ readonly whole: boolean }
  | { readonly reason: string }
> {
  const answer = await ask(taskId, { minPosition }, signal)
  return 'reason' in answer ? answer : { data: answer, whole: answer.output.length < pieces }
}

/** The output before a position; `null` when it cannot be read. */
export const readEarlier = async (taskId: string, before: Position) => {
  const answer = await ask(taskId, { before }, new AbortController().signal)
  return 'reason' in answer ? null : { output: answer.output, whole: answer.output.length < pieces }
}

async function ask(
  taskId: string,
  page: { readonly minPosition?: Position | undefined; readonly before?: Position },
  signal: AbortSignal,
): Promise<TerminalAnswer | { readonly reason: string }> {
  const call = requestOf<typeof getTerminal>(chatRoutes.getTerminal, {
    params: { taskId },
    query: { ...page, limit: pieces },
    fallback: taskTexts.terminalNotFetched,
  })
  const answer = await request(call, {
    fetch: (...args) => fetch(...args),
    token: readToken(),
    signal,
    newId,
  })
  if ('error' in answer) {
    logReason(answer.error)
    return { reason: answer.error.message }
  }
  return isTerminalAnswer(answer.data) ? answer.data : { reason: taskTexts.terminalNotFetched }
}

function isTerminalAnswer(answer: unknown): answer is TerminalAnswer {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'output' in answer &&
    Array.isArray(answer.output) &&
    'deltas' in answer &&
    Array.isArray(answer.deltas) &&
    'version' in answer &&
    typeof answer.version === 'number'
  )
}
