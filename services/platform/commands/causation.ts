/** On whose behalf: commands and the log for one request or one job, so that all it causes tells where it comes from. */
import type { EventLog, Origin } from '../eventlog/eventLog.ts'
import type { Commands } from './execute.ts'

/** The same commands, which go back to `origin` unless they say otherwise. */
export function commandsFrom(commands: Commands, origin: Origin): Commands {
  return {
    ...commands,
    execute: (decider, stream, command, cause, ...rest) =>
      commands.execute(decider, stream, command, { ...origin, ...cause }, ...rest),
  }
}

/** The same log, whose appends go back to `origin` unless they say otherwise. */
export function logFrom(log: EventLog, origin: Origin): EventLog {
  return {
    ...log,
    append: (stream, head, events, cause) => log.append(stream, head, events, { ...origin, ...cause }),
  }
}
