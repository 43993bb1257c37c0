/** Appends to a task's terminal stream. It has one writer: the execution that is running. */
import { randomUUID } from 'node:crypto'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { TerminalEvent } from '#domain/task/terminal.ts'
import type { TerminalHead } from '#domain/task/events.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { LiveWords, Words } from '#platform/eventlog/liveWords.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { Evicted } from '../failure.ts'

export interface TerminalWriter {
  /** Appends in the order of the calls. Rejects with `Evicted` when another runner writes here now, and from then on. */
  append(event: TerminalEvent): Promise<void>
  /** Sends viewers the words that an append will soon record. */
  tell(words: Omit<Words, 'taskId'>): void
  /** The stream's end as this writer left it; `null` when nothing was ever printed. */
  head(): TerminalHead | null
}

const actor = { kind: 'system', service: 'runner' } as const
/** How long recording waits for an engine that is away. The agent waits too, and goes on afterwards. */
export const recordingPatienceMs = 120_000
/** How often the first append is tried again because a writer that is being replaced came first. */
const openingAttempts = 10

/**
 * A writer for one attempt, which began at this revision of the task's own stream. Its first append goes to the end of the stream as it is
 * then. That evicts an earlier writer, whose next append names a revision that is taken.
 */
export async function terminalWriter(
  {
    log,
    commands,
    words,
  }: {
    readonly log: EventLog
    readonly commands: Pick<Commands, 'knownRevision'>
    readonly words: Pick<LiveWords, 'tell'>
  },
  taskId: string,
  begunAt: number,
): Promise<TerminalWriter> {
  const stream = terminalStream(taskId)
  let head = await log.headOf(stream)
  let begun = false
  let follows = begunAt
  let last: Promise<void> = Promise.resolve()

  async function appendNow(event: TerminalEvent): Promise<void> {
    for (let attempt = 1; attempt <= (begun ? 1 : openingAttempts); attempt += 1) {
      follows = Math.max(follows, commands.knownRevision(taskStream(taskId)))
      const cause = { actor, commandId: randomUUID(), follows, patienceMs: recordingPatienceMs }
      const result = await log.append(stream, head, [event], cause)
      if (result.kind === 'appended') {
        begun = true
        head = result.head
        return
      }
      if (!begun) head = await log.headOf(stream)
    }
    throw new Evicted('Another runner writes to this terminal.')
  }

  return {
    append(event) {
      last = last.then(() => appendNow(event))
      // The caller gets the fault; the chain only passes it on to later appends.
      last.catch(() => undefined)
      return last
    },
    tell: (piece) => words.tell({ taskId, ...piece }),
    head: () => (head.revision < 0 ? null : head),
  }
}
