/** Reads the end of a job's log from a stream, and finds where the failed step begins. */
import { StringDecoder } from 'node:string_decoder'
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
import type { HostLog } from '#platform/ports/codeHostFeedback.ts'

/** How many bytes of the log's end are kept during the reading. */
const kept = 256 * 1_024
const maxBytes = 1_024 * 1_024 * 1_024

type Shown = (text: string) => string

/**
 * Reads a log in pieces and returns its end. `shown` is applied to remove secrets. Throws the stream's faults, and `RangeError` when the log is too
 * long.
 */
export async function endOfStream(stream: AsyncIterable<Uint8Array>, shown: Shown): Promise<HostLog> {
  let pieces: Buffer[] = []
  let held = 0
  let read = 0
  for await (const piece of stream) {
    read += piece.byteLength
    if (read > maxBytes) throw new RangeError('The log is too long to be read.')
    pieces.push(Buffer.from(piece))
    held += piece.byteLength
    if (held < kept * 2) continue
    pieces = [Buffer.concat(pieces).subarray(-kept)]
    held = kept
  }
  const end = Buffer.concat(pieces).subarray(-kept)
  return endOfLog(new StringDecoder('utf8').write(end), read > end.length, shown)
}

const stamp = /^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z /gm

/**
 * The end of the log's text, from the failed step on if there is one, without the timestamps before the lines. The parameter `isCut` says that `text`
 * is only the end of the log.
 */
export function endOfLog(text: string, isCut: boolean, shown: Shown): HostLog {
  const whole = isCut ? fromWholeLine(text) : text
  const raw = whole.replaceAll('\r\n', '\n').replaceAll(stamp, '')
  // Secrets are removed before the text is cut at the failed step and to the maximum length, because half of a secret could not be recognized.
  const lines = shown(raw)
  const error = lines.lastIndexOf('##[error]')
  const group = error === -1 ? -1 : lines.lastIndexOf('##[group]', error)
  const step = group === -1 ? lines : lines.slice(group)
  const end = step.length > feedbackLimits.log ? fromWholeLine(step.slice(-feedbackLimits.log)) : step
  return { text: end, isCut: isCut || end.length < lines.length }
}

/** The text without its first, incomplete line; unchanged if it has no further line. */
const fromWholeLine = (text: string): string => text.slice(text.indexOf('\n') + 1) || text
