/**
 * Records a run's progress in the task's stream, in order and with several events per append. Nothing is recorded once the run no longer owns its
 * execution.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { CommandOf, ExecutionOutcome, Fence } from '#domain/task/commands.ts'
import type { ProgressEvent, TerminalHead } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { Evicted } from '../failure.ts'
import { recordingPatienceMs } from './terminalWriter.ts'

export interface Reporter {
  /**
   * Records events after those that were reported before. Resolves when they are in the log; rejects with `Evicted` when the run does not own its
   * execution.
   */
  report(...progress: readonly ProgressEvent[]): Promise<void>
  /** Records, after earlier reports, that a steering message was delivered. */
  delivered(messageId: string): Promise<void>
  /** Ends the execution after all reports. */
  end(
    outcome: ExecutionOutcome,
    terminal: TerminalHead | null,
    more?: Pick<CommandOf<'EndExecution'>, 'opensDraft' | 'message'>,
  ): Promise<void>
}

const actor = { kind: 'system', service: 'runner' } as const

export function reporter(commands: Commands, taskId: string, fence: Fence): Reporter {
  const stream = taskStream(taskId)
  let waiting: ProgressEvent[] = []
  let last: Promise<void> = Promise.resolve()
  /** The next append, which takes all waiting reports. */
  let next: Promise<void> | undefined

  function execute(command: Parameters<typeof task.decide>[0]): Promise<void> {
    const cause = { actor, commandId: randomUUID(), patienceMs: recordingPatienceMs }
    return commands.execute(task, stream, command, cause).then(
      () => undefined,
      (fault: unknown) => {
        const gone = fault instanceof Fault && (fault.code === 'evicted' || fault.code === 'not_found')
        throw gone ? new Evicted(fault.message) : fault
      },
    )
  }

  async function flush(): Promise<void> {
    const progress = waiting
    waiting = []
    next = undefined
    if (progress.length > 0) await execute({ type: 'RecordProgress', fence, progress })
  }

  return {
    report(...progress) {
      waiting.push(...progress)
      // Reports that arrive during an append go into the next append together, and share its result.
      if (!next) {
        // A report that was refused, for example because of its size, does not prevent the next report.
        next = last.catch(() => undefined).then(flush)
        last = next
        last.catch(() => undefined)
      }
      return next
    },
    async delivered(messageId) {
      await last.catch(() => undefined)
      await execute({ type: 'DeliverSteering', fence, messageId })
    },
    async end(outcome, terminal, more = {}) {
      await last.catch(() => undefined)
      const nextExecutionId = randomUUID()
      await execute({ type: 'EndExecution', fence, outcome, terminal, nextExecutionId, ...more })
    },
  }
}
