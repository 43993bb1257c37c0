/** The way of a process's output into the log: bytes, characters, redacted text, few pieces. */
import { StringDecoder } from 'node:string_decoder'
import { createCoalescer } from './coalesce.ts'
import type { CoalesceOptions } from './coalesce.ts'
import type { Redaction } from '../../redaction/redaction.ts'

export interface OutputRecorder {
  /** Takes what was read, cut anywhere. Await it before reading on: it waits while too much is on its way. */
  write(output: Uint8Array | string): Promise<void>
  /** Records what is left; resolves when everything has been recorded. */
  end(): Promise<void>
}

/** Records output with the secrets removed. Once `emit` has failed, every call fails with its error. */
export function recordOutput(options: CoalesceOptions & { readonly redaction: Redaction }): OutputRecorder {
  const decoder = new StringDecoder('utf8')
  const redactor = options.redaction.stream()
  const pieces = createCoalescer(options)
  /** Output that is still searched for secrets, or waits behind such output. */
  let underWay: Promise<void> | undefined

  function take(piece: string | Promise<string>): Promise<void> {
    if (underWay === undefined && typeof piece === 'string') return pieces.write(piece)
    const before = underWay
    const written = (async () => {
      const text = await piece
      await before
      await pieces.write(text)
    })()
    underWay = written
    const over = () => {
      if (underWay === written) underWay = undefined
    }
    written.then(over, over)
    return written
  }
  return {
    write: (output) =>
      take(redactor.push(typeof output === 'string' ? output : decoder.write(Buffer.from(output)))),
    async end() {
      const rest = decoder.end()
      if (rest !== '') void take(redactor.push(rest)).catch(() => undefined)
      const last = await redactor.end()
      if (last !== '' || underWay !== undefined) await take(last)
      await pieces.end()
    },
  }
}
