/**
 * The answers with a task's latest terminal output. The latest answers are cached as JSON. An answer is valid until its stream grows or is erased.
 */
import { LRUCache } from 'lru-cache'
import type { AnswerOf, QueryOf } from '#domain/api/call.schema.ts'
import type { getTerminal, MessageDelta, TerminalOutput } from '#domain/api/chat.schema.ts'
import { limits } from '#domain/api/limits.ts'
import { comparePositions } from '#domain/kernel/event.ts'
import { terminalStream } from '#domain/kernel/streams.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { messageDeltaOf, terminalOutputOf } from '#domain/views/terminal.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { JsonText } from '#platform/http/route.ts'

type Answer = AnswerOf<typeof getTerminal>
type Page = Pick<QueryOf<typeof getTerminal>, 'limit' | 'before'>

export interface TerminalTexts {
  of(task: Pick<TaskDocument, 'id' | 'execution'>, page: Page): Promise<JsonText<Answer>>
}

/** How many events of a terminal's stream are read at once. */
const eventsAtOnce = 500
/** The total length of the kept answers, in bytes. */
const keptBytes = 4_000_000
/** The overhead of a cached answer, in bytes: a short answer keeps a part of Node's buffer pool in memory. */
const answerOverheadBytes = 2_000

/** The hash of a stream's last event stands for the whole stream, because each event has the hash of the one before it. */
interface CachedAnswer {
  readonly lastHash: string
  readonly bytes: Buffer
}

export function terminalTexts({ log }: { readonly log: EventLog }): TerminalTexts {
  const cache = new LRUCache<string, CachedAnswer>({
    maxSize: keptBytes,
    sizeCalculation: ({ bytes }) => bytes.length + answerOverheadBytes,
  })
  return {
    async of(task, page) {
      const stream = terminalStream(task.id)
      const executionId = task.execution?.id ?? ''
      const key = [stream, executionId, page.limit, page.before].join(' ')
      const known = cache.get(key)
      if (known !== undefined && (await isCurrent(log, stream, known))) return known.bytes
      const { lastHash, ...answer } = await latestOutput(log, stream, executionId, page)
      const bytes = Buffer.from(JSON.stringify(answer satisfies Answer))
      cache.set(key, { lastHash, bytes })
      return bytes
    },
  }
}

/** Whether nothing was appended to the stream since the answer, and its texts were not erased. An erasure appends nothing to the stream. */
async function isCurrent(log: EventLog, stream: string, { lastHash }: CachedAnswer): Promise<boolean> {
  const [last] = await log.readBackwards(stream, 'end', 1)
  return last === undefined ? lastHash === '' : last.meta.hash === lastHash && last.content !== null
}

/**
 * The latest output, read backwards from the terminal's stream, so that the whole stream need not be read. The pieces of messages of the task's last
 * execution are included as deltas, because an unfinished message is not in the chat yet.
 */
async function latestOutput(
  log: EventLog,
  stream: string,
  executionId: string,
  { limit, before }: Page,
): Promise<Answer & { readonly lastHash: string }> {
  const output: TerminalOutput[] = []
  const deltas: MessageDelta[] = []
  let version = -1
  let lastHash = ''
  let from: number | 'end' = 'end'
  let length = 0
  while (output.length < limit && length < limits.terminalLength) {
    const events = await log.readBackwards(stream, from, eventsAtOnce)
    for (const event of events) {
      if (event.revision > version) [version, lastHash] = [event.revision, event.meta.hash]
      const wanted = before === undefined || comparePositions(event.position, before) < 0
      const isOutput = event.type === 'TerminalOutputRecorded' || event.type === 'ShellOutputRecorded'
      if (isOutput && wanted && output.length < limit && length < limits.terminalLength) {
        const piece = terminalOutputOf(event)
        output.push(piece)
        length += piece.content.length
      }
      if (event.type === 'MessageTextRecorded' && event.data.executionId === executionId)
        deltas.push(messageDeltaOf(event))
    }
    const last = events.at(-1)
    if (!last || last.revision === 0) break
    from = last.revision - 1
  }
  return { output: output.reverse(), deltas: deltas.reverse(), version, lastHash }
}
