/** Commands and the log for one request or job: everything that it causes is recorded with it as the cause. */
import { randomUUID } from 'node:crypto'
import type { EventLog, Origin } from '../eventlog/eventLog.ts'
import type { Commands } from './execute.ts'

/** Commands that record `origin` as the cause, unless the caller gives another. */
export function commandsFrom(commands: Commands, origin: Origin): Commands {
  return {
    ...commands,
    execute: (decider, stream, command, cause, ...rest) =>
      commands.execute(decider, stream, command, { ...origin, ...cause }, ...rest),
  }
}

/** A log whose appends have `origin` as the cause, unless the caller gives another. */
export function logFrom(log: EventLog, origin: Origin): EventLog {
  return {
    ...log,
    append: (stream, head, events, cause) => log.append(stream, head, events, { ...origin, ...cause }),
  }
}

/** The cause for what a service does by itself. */
export const bySystem = (service: string) =>
  ({ actor: { kind: 'system', service }, commandId: randomUUID() }) as const
