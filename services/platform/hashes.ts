/** SHA-256 of content, whole or as a short name. */
import { createHash } from 'node:crypto'

/** SHA-256 in hex; of a text in UTF-8. */
export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * A short name for the content of a line, by which processes compare lines without sending them: 12 hex digits for the line without its end. Text
 * counts as UTF-8.
 */
export function lineHash(line: string | Buffer): string {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line
  const content = bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
  return createHash('sha256').update(content).digest('hex').slice(0, 12)
}
