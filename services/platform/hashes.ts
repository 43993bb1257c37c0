/** SHA-256 of content, whole or as a short name. */
import { createHash, hash } from 'node:crypto'

/** SHA-256 in hex. A text is hashed as UTF-8. */
export function sha256(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/**
 * A short name for a line, by which processes compare lines without sending them: the first 12 hex digits of its SHA-256. The line must not end with
 * `\n`; a `\r` at its end is ignored. Text is hashed as UTF-8.
 */
export function lineHash(line: string | Buffer): string {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line
  const content = bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
  return createHash('sha256').update(content).digest('hex').slice(0, 12)
}
