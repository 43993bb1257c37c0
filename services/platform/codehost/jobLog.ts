/** The end of a job's log: what is kept of a stream of any length, and where the step that failed begins in it. */
import { StringDecoder } from 'node:string_decoder'
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
import type { HostLog } from '#platform/ports/codeHostFeedback.ts'

/** Bytes that are kept while it is read. */
const kept = 256 * 1_024
/** A log that is longer is not read to its end. */
const mostBytes = 1_024 * 1_024 * 1_024

type Shown = (text: string) => string

/**
 * Reads a log piece by piece and keeps its end, of which `shown` takes out what must not be shown. Throws what the stream throws, and
 * `RangeError` where it is too long.
 */
export async function endOfStream(stream: AsyncIterable<Uint8Array>, shown: Shown): Promise<HostLog> {
  let pieces: Buffer[] = []
  let held = 0
  let read = 0
  for await (const piece of stream) {
    read += piece.byteLength
    if (read > mostBytes) throw new RangeError('The log is too long to be read.')
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

/** From the step that failed on, without the times before each line; `isCut` where the text itself is not the whole log. */
export function endOfLog(text: string, isCut: boolean, shown: Shown): HostLog {
  const whole = isCut ? fromWholeLine(text) : text
  const raw = whole.replaceAll('\r\n', '\n').replaceAll(stamp, '')
  // Before it is cut again: the rest of a secret that a cut begins in is no longer known for one.
  const lines = shown(raw)
  const error = lines.lastIndexOf('##[error]')
  const group = error === -1 ? -1 : lines.lastIndexOf('##[group]', error)
  const step = group === -1 ? lines : lines.slice(group)
  const end = step.length > feedbackLimits.log ? fromWholeLine(step.slice(-feedbackLimits.log)) : step
  return { text: end, isCut: isCut || end.length < lines.length }
}

/** Without the line that the text begins in the middle of, where it has more than that. */
const fromWholeLine = (text: string): string => text.slice(text.indexOf('\n') + 1) || text
