/** The log of the program itself (not of the domain): one line of JSON an entry, on stderr. */
import { pino, type Logger } from 'pino'

export type { Logger }

/** Stdout stays free for what a person reads. Secrets never come here: only codes, ids and our own sentences are logged. */
export function logger(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))
}
