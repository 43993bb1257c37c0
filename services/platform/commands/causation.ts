/** Commands and the log for one request or one job: everything it causes names it as its cause. */
import type { EventLog, Origin } from '../eventlog/eventLog.ts'
import type { Commands } from './execute.ts'

/** The same commands, caused by `origin` unless they say otherwise. */
export function commandsFrom(commands: Commands, origin: Origin): Commands {
  return {
    ...commands,
    execute: (decider, stream, command, cause, ...rest) =>
      commands.execute(decider, stream, command, { ...origin, ...cause }, ...rest),
  }
}

/** The same log, whose appends are caused by `origin` unless they say otherwise. */
export function logFrom(log: EventLog, origin: Origin): EventLog {
  return {
    ...log,
    append: (stream, head, events, cause) => log.append(stream, head, events, { ...origin, ...cause }),
  }
}
