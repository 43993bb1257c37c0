/** The way of a process's output into the log: bytes, characters, redacted text, few pieces. */
import { StringDecoder } from 'node:string_decoder'
import { createCoalescer } from './coalesce.ts'
import type { CoalesceOptions } from './coalesce.ts'
import { createRedactor } from './redaction.ts'

export interface OutputRecorder {
  /** Takes what was read, cut anywhere. Await it before reading on: it waits while too much is on its way. */
  write(output: Uint8Array | string): Promise<void>
  /** Records what is left; resolves when everything has been recorded. */
  end(): Promise<void>
}

/** Records output without these secrets. Fails with the error of `emit`, from then on. */
export function recordOutput(
  options: CoalesceOptions & { readonly secrets: readonly string[] },
): OutputRecorder {
  const decoder = new StringDecoder('utf8')
  const redactor = createRedactor(options.secrets)
  const pieces = createCoalescer(options)
  return {
    write(output) {
      const text = typeof output === 'string' ? output : decoder.write(Buffer.from(output))
      return pieces.write(redactor.push(text))
    },
    async end() {
      const last = redactor.push(decoder.end()) + redactor.end()
      if (last !== '') await pieces.write(last)
      await pieces.end()
    },
  }
}
