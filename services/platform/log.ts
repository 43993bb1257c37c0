/** The program's own log (not the event log): one line of JSON per entry, on stderr. */
import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/**
 * Makes the logger. Stdout stays free for what people read. Entries must contain no secrets: only codes, ids, our own sentences, and faults, of which
 * only the fields of `LoggedFault` are written. `bindings` are in every line; work for a request or a job uses a child logger with its ids.
 */
export function logger(
  level: string,
  bindings: Readonly<Record<string, string>> = {},
  destination: DestinationStream = logDestination(2),
): Logger {
  return pino(
    { level, base: bindings, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: faultOf } },
    destination,
  )
}

/**
 * Opens where log lines are written: a file, or a file descriptor. Lines that cannot be written are kept, up to 4 MB, and written with a later line.
 */
export function logDestination(dest: number | string) {
  const out = pino.destination({ dest, maxLength: 4_000_000 })
  const { flushSync } = out
  // While nothing can be written, for example to a full disk, pino would try it again without end when the process exits.
  out.on('error', () => (out.flushSync = () => undefined))
  out.on('write', () => (out.flushSync = flushSync))
  return out
}

/** The fields of a fault that are logged. Libraries attach requests, headers and bodies to their faults, which must not be logged. */
interface LoggedFault {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: LoggedFault
}

const deepestCause = 5

function faultOf(thrown: unknown, depth = 0): LoggedFault {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) }
  const { name, message, stack, cause } = thrown
  const code = 'code' in thrown && (typeof thrown.code === 'string' || typeof thrown.code === 'number')
  return {
    type: name,
    message,
    ...(code && { code: String(thrown.code) }),
    ...(stack !== undefined && { stack }),
    ...(cause !== undefined && depth < deepestCause && { cause: faultOf(cause, depth + 1) }),
  }
}
