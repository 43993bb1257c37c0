/** A bound on what is taken from a client. */
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Readable } from 'node:stream'

/** More bytes came than are taken. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** Lets bytes through up to a limit; fails with `BodyTooLarge` beyond it. */
export function limitBytes(limit: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limit) done(new BodyTooLarge(`More than ${limit} bytes.`))
      else done(null, chunk)
    },
  })
}

/** A body of JSON has more values than are taken. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues'
}

/** Far above what a conversation has. Parsing a value takes many times its bytes, and time that others wait. */
const mostValues = 250_000

/**
 * The whole of a body of JSON. Fails with `BodyTooLarge` beyond the limit, with `TooManyValues` where reading it would take too long, and
 * when the client goes away before its end.
 */
export async function readWhole(body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  const count = valueCounter()
  const collect = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      if (count(chunk) > mostValues) done(new TooManyValues(`More than ${mostValues} values.`))
      else done()
    },
  })
  await pipeline(body, limitBytes(limit), collect)
  return Buffer.concat(chunks)
}

/** Counts, piece by piece, each start of a list or an object and each further value in one; what stands in strings does not count. */
function valueCounter(): (piece: Buffer) => number {
  let count = 0
  let isInWords = false
  let isEscaped = false
  return (piece) => {
    // By index: an iterator takes several times as long.
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]
      if (!isInWords) {
        if (byte === quote) isInWords = true
        else if (byte === comma || byte === bracket || byte === brace) count += 1
      } else if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) isInWords = false
    }
    return count
  }
}

const [quote, comma, bracket, brace, backslash] = Buffer.from('",[{\\')
