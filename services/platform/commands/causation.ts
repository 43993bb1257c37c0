/** Makes commands and the log record the request or job that caused an event. */
import { randomUUID } from 'node:crypto'
import type { EventLog, Origin } from '../eventlog/eventLog.ts'
import type { Commands } from './execute.ts'

/** Returns commands that record `origin` as their cause unless the caller gives another cause. */
export function commandsFrom(commands: Commands, origin: Origin): Commands {
  return {
    ...commands,
    execute: (decider, stream, command, cause, ...rest) =>
      commands.execute(decider, stream, command, { ...origin, ...cause }, ...rest),
  }
}

/** Returns a log whose appends record `origin` as their cause unless the caller gives another. */
export function logFrom(log: EventLog, origin: Origin): EventLog {
  return {
    ...log,
    append: (stream, head, events, cause) => log.append(stream, head, events, { ...origin, ...cause }),
  }
}

/** The cause of everything that a service does by itself. */
export const bySystem = (service: string) =>
  ({ actor: { kind: 'system', service }, commandId: randomUUID() }) as const
