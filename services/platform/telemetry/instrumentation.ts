/** Commands and the log, told of to whoever watches. */
import { Fault, type FaultCode } from '#domain/kernel/errors.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Commands, Executed } from '#platform/commands/execute.ts'
import { EngineUnavailable, NotFolded, TooLarge } from '#platform/ports/faults.ts'
import { now, type CommandDone, type Emit } from './telemetry.ts'

/** The same commands; each is told of when it is over. */
export function observedCommands(commands: Commands, emit: Emit): Commands {
  return {
    ...commands,
    async execute(decider, stream, command, cause, ...rest) {
      const begun = now()
      const tell = (outcome: CommandDone['outcome']) =>
        emit({ kind: 'command', type: typeOf(command), stream, cause, outcome, begun, ended: now() })
      try {
        const executed = await commands.execute(decider, stream, command, cause, ...rest)
        tell(outcomeOf(executed))
        return executed
      } catch (fault) {
        tell(codeOf(fault))
        throw fault
      }
    },
  }
}

/** The same log; each append is told of when it is over. */
export function observedLog(log: EventLog, emit: Emit): EventLog {
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

function outcomeOf({ repeated, events }: Executed<unknown>): CommandDone['outcome'] {
  if (repeated) return 'repeated'
  return events.length === 0 ? 'unchanged' : 'done'
}

function codeOf(fault: unknown): FaultCode {
  if (fault instanceof Fault) return fault.code
  if (fault instanceof NotFolded) return 'views_behind'
  if (fault instanceof EngineUnavailable) return 'engine_unavailable'
  if (fault instanceof UnreadableEvent) return 'history_unreadable'
  return fault instanceof TooLarge ? 'too_large' : 'internal'
}
