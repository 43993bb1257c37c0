/** Reads a task's output from the server, outside of the store. */
import { chatRoutes } from '#domain/api/chat.ts'
import { limits } from '#domain/api/limits.ts'
import type { getTerminal } from '#domain/api/chat.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { requestOf } from '../../../../api/endpoint.ts'
import { isRecord, readUncached } from '../../readUncached.ts'
import { texts as taskTexts } from '../../texts.ts'

type TerminalAnswer = AnswerOf<typeof getTerminal>

/** How many pieces are read at once; a piece may be as little as 50 ms of output. */
const pieces = limits.pageSize

/** Reads the latest output; resolves to the reason when it cannot be read. */
export async function readTerminal(
  taskId: string,
  minPosition: Position | undefined,
  signal: AbortSignal,
): Promise<
  | {
      readonly data: TerminalAnswer
      /** Whether nothing was printed before this output. */
      readonly whole: boolean
    }
  | { readonly reason: string }
> {
  const answer = await readPage(taskId, { minPosition }, signal)
  return 'reason' in answer ? answer : { data: answer, whole: isWhole(answer) }
}

/** Reads the output before a position; `null` when it cannot be read. */
export const readEarlier = async (taskId: string, before: Position) => {
  const answer = await readPage(taskId, { before }, new AbortController().signal)
  return 'reason' in answer ? null : { output: answer.output, whole: isWhole(answer) }
}

const isWhole = ({ output }: TerminalAnswer): boolean =>
  output.length < pieces &&
  output.reduce((sum, { content }) => sum + content.length, 0) < limits.terminalLength

async function readPage(
  taskId: string,
  page: { readonly minPosition?: Position | undefined; readonly before?: Position },
  signal: AbortSignal,
): Promise<TerminalAnswer | { readonly reason: string }> {
  const call = requestOf<typeof getTerminal>(chatRoutes.getTerminal, {
    params: { taskId },
    query: { ...page, limit: pieces },
    fallback: taskTexts.terminalNotFetched,
  })
  const answer = await readUncached(call, signal)
  if ('reason' in answer) return answer
  return isTerminalAnswer(answer.data) ? answer.data : { reason: taskTexts.terminalNotFetched }
}

function isTerminalAnswer(answer: unknown): answer is TerminalAnswer {
  return (
    isRecord(answer) &&
    Array.isArray(answer['output']) &&
    Array.isArray(answer['deltas']) &&
    typeof answer['version'] === 'number'
  )
}
