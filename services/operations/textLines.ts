/** Reads the lines of text files of any size. */
import { closeSync, openSync, readSync } from 'node:fs'

const chunkBytes = 1_048_576
const longestLine = 64 * chunkBytes
/** Stands for a line that is too long or not text. No line of a valid bundle is equal to it. */
const noLine = '\u0000'

/** The lines of a file, one at a time, without their newlines. The last line is the text after the last newline, which may be empty. */
export function* textLines(file: string): Generator<string> {
  const descriptor = openSync(file, 'r')
  try {
    const chunk = Buffer.alloc(chunkBytes)
    let parts: Buffer[] = []
    let length = 0
    const add = (part: Buffer) => {
      length += part.length
      if (length <= longestLine) parts.push(Buffer.from(part))
    }
    const take = () => {
      const line = length > longestLine ? noLine : decoded(Buffer.concat(parts))
      parts = []
      length = 0
      return line
    }
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0 && end < read; end = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, end))
        yield take()
        from = end + 1
      }
      add(chunk.subarray(from, read))
    }
    yield take()
  } finally {
    closeSync(descriptor)
  }
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return noLine
  }
}
