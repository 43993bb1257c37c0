/** A short name of a line's content, by which processes compare lines without sending them. */
import { createHash } from 'node:crypto'

/** 12 hex digits of the line without its end, whichever that is. Text counts as UTF-8. */
export function lineHash(line: string | Buffer): string {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line
  const content = bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
  return createHash('sha256').update(content).digest('hex').slice(0, 12)
}
