/** Appends to a task's terminal stream, which has one writer at a time. */
import { randomUUID } from 'node:crypto'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { TerminalEvent } from '#domain/task/terminalEvents.ts'
import type { TerminalHead } from '#domain/task/events.ts'
import { retryWhileUnavailable, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { LiveWords, Words } from '#platform/live/liveWords.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { Evicted } from '../failure.ts'

export interface TerminalWriter {
  /**
   * Appends in the order of the calls; `onBegun` is called when earlier appends have ended and this one begins. Rejects with `Evicted` when another
   * writer has written to the stream. After a rejection, all later calls reject too.
   */
  append(event: TerminalEvent, onBegun?: () => void): Promise<void>
  /** Sends viewers text before it is recorded. */
  tell(words: Omit<Words, 'taskId'>): void
  /** The last event of the stream after this writer's appends; `null` when nothing was ever printed. */
  head(): TerminalHead | null
}

const actor = { kind: 'system', service: 'runner' } as const
/** How long recording waits in milliseconds while the event log is unavailable. The agent waits too, and continues afterwards. */
export const recordingPatienceMs = 120_000
/** How many times the first append is tried. The writer that is being replaced may append in between. */
const openingAttempts = 10

/**
 * Makes a writer for one attempt of an execution. `begunAt` is the revision of the task's stream at which the attempt began. The first append goes to
 * the end of the terminal stream, wherever it is. The next append of an earlier writer then fails, because it expects another end.
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
  attempts = openingAttempts,
): Promise<TerminalWriter> {
  const stream = terminalStream(taskId)
  const headNow = () => retryWhileUnavailable(() => log.headOf(stream), { patienceMs: recordingPatienceMs })
  let head = await headNow()
  let begun = false
  let follows = begunAt
  let last: Promise<void> = Promise.resolve()

  async function appendNow(event: TerminalEvent): Promise<void> {
    for (let attempt = 1; attempt <= (begun ? 1 : attempts); attempt += 1) {
      follows = Math.max(follows, commands.knownRevision(taskStream(taskId)))
      const cause = { actor, commandId: randomUUID(), follows, patienceMs: recordingPatienceMs }
      const result = await log.append(stream, head, [event], cause)
      if (result.kind === 'appended') {
        begun = true
        head = result.head
        return
      }
      if (!begun) head = await headNow()
    }
    throw new Evicted('Another runner writes to this terminal.')
  }

  return {
    append(event, onBegun) {
      last = last.then(() => {
        const appended = appendNow(event)
        onBegun?.()
        return appended
      })
      // The caller gets the fault from the returned promise, so it must not count as unhandled here.
      last.catch(() => undefined)
      return last
    },
    tell: (piece) => words.tell({ taskId, ...piece }),
    head: () => (head.revision < 0 ? null : head),
  }
}
