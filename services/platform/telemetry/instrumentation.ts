/** Emits observations of commands, the log and the job queue. */
import { Fault, type FaultCode } from '#domain/kernel/errors.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Delivery, Jobs } from '#platform/ports/jobs.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { EngineUnavailable, isDiskFull, NotFolded, TooLarge } from '#platform/ports/faults.ts'
import { noTelemetry, now, type CommandDone, type Emit } from './telemetry.ts'

export async function observeCommand<E extends Outcome>(
  emit: Emit,
  { command, ...about }: Pick<CommandDone, 'stream' | 'cause'> & { readonly command: unknown },
  execute: () => Promise<E>,
): Promise<E> {
  if (emit === noTelemetry) return execute()
  const begun = now()
  const done = (outcome: CommandDone['outcome']) =>
    emit({ kind: 'command', type: typeOf(command), ...about, outcome, begun, ended: now() })
  try {
    const executed = await execute()
    done(outcomeOf(executed))
    return executed
  } catch (fault) {
    done(codeOf(fault))
    throw fault
  }
}

interface Outcome {
  readonly repeated: boolean
  readonly events: readonly AnyRecorded[]
}

/** Wraps the log: each append also emits an observation. */
export function observedLog(log: EventLog, emit: Emit): EventLog {
  if (emit === noTelemetry) return log
  return {
    ...log,
    async append(stream, head, events, cause) {
      const begun = now()
      try {
        const result = await log.append(stream, head, events, cause)
        const appended = result.kind === 'conflict' ? 'conflict' : result.events
        emit({ kind: 'append', stream, cause, events: appended, begun, ended: now() })
        return result
      } catch (fault) {
        emit({ kind: 'append', stream, cause, events: 'fault', begun, ended: now() })
        throw fault
      }
    },
  }
}

function typeOf(command: unknown): string {
  const hasType = typeof command === 'object' && command !== null && 'type' in command
  return hasType && typeof command.type === 'string' ? command.type : 'other'
}

function outcomeOf({ repeated, events }: Outcome): CommandDone['outcome'] {
  if (repeated) return 'repeated'
  return events.length === 0 ? 'unchanged' : 'done'
}

function codeOf(fault: unknown): FaultCode {
  if (fault instanceof Fault) return fault.code
  if (fault instanceof NotFolded) return 'views_behind'
  if (fault instanceof EngineUnavailable) return isDiskFull(fault) ? 'disk_full' : 'engine_unavailable'
  if (fault instanceof UnreadableEvent) return 'history_unreadable'
  return fault instanceof TooLarge ? 'too_large' : 'internal'
}

/** Wraps the queue, so that an outcome is emitted when a handler acknowledges, gives back or rejects a delivery, and when it throws. */
export function observedJobs(jobs: Jobs, emit: Emit): Jobs {
  return {
    ...jobs,
    work: (kind, options, handle) =>
      jobs.work(kind, options, async (delivery) => {
        const tell = (outcome: 'done' | 'given_back' | 'set_aside' | 'failed') =>
          emit({ kind: 'delivery', job: kind, outcome })
        try {
          await handle(observedDelivery(delivery, tell))
        } catch (fault) {
          tell('failed')
          throw fault
        }
      }),
  }
}

function observedDelivery(
  delivery: Delivery,
  tell: (outcome: 'done' | 'given_back' | 'set_aside') => void,
): Delivery {
  return {
    job: delivery.job,
    attempt: delivery.attempt,
    working: () => delivery.working(),
    waits: (isWaiting) => delivery.waits(isWaiting),
    async ack() {
      await delivery.ack()
      tell('done')
    },
    async nak(delayMs) {
      await delivery.nak(delayMs)
      tell('given_back')
    },
    async reject(fault) {
      await delivery.reject(fault)
      tell('set_aside')
    },
  }
}
