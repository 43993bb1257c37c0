/** Reads the end of a job's log from a stream of any length, and finds where the failed step begins in it. */
import { StringDecoder } from 'node:string_decoder'
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
import type { HostLog } from '#platform/ports/codeHostFeedback.ts'

/** How many bytes of a log are kept while reading. */
const kept = 256 * 1_024
const maxBytes = 1_024 * 1_024 * 1_024

type Shown = (text: string) => string

/**
 * Reads a log in pieces and keeps its end, with `shown` applied to remove what must not be shown. Throws the stream's faults, and `RangeError` when
 * the log is too long.
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

/** The text from the failed step on, without the time before each line; `isCut` when the text is not the whole log. */
export function endOfLog(text: string, isCut: boolean, shown: Shown): HostLog {
  const whole = isCut ? fromWholeLine(text) : text
  const raw = whole.replaceAll('\r\n', '\n').replaceAll(stamp, '')
  // Applied before the second cut, because a secret that the cut splits could no longer be recognized.
  const lines = shown(raw)
  const error = lines.lastIndexOf('##[error]')
  const group = error === -1 ? -1 : lines.lastIndexOf('##[group]', error)
  const step = group === -1 ? lines : lines.slice(group)
  const end = step.length > feedbackLimits.log ? fromWholeLine(step.slice(-feedbackLimits.log)) : step
  return { text: end, isCut: isCut || end.length < lines.length }
}

/** Drops the first, incomplete line if there are others. */
const fromWholeLine = (text: string): string => text.slice(text.indexOf('\n') + 1) || text
