/** A bound on what is taken from a client. */
import type { Readable } from 'node:stream'
import { faults, type ApiFault } from './apiFault.ts'

/** A body is larger than allowed, and was not read to its end. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly fault: ApiFault
  constructor(fault: ApiFault) {
    super(fault.message)
    this.fault = fault
  }
}

/** Far above any conversation. Parsing takes many times the bytes, and other requests wait for it. */
const maxValues = 250_000

/** The whole of a body of JSON. Throws `BodyRefused` beyond `maxBytes` or 250,000 values, and fails when the client goes away before its end. */
export async function readWhole(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const count = valueCounter()
  for await (const chunk of body) {
    if (!(chunk instanceof Buffer)) throw new TypeError('A body is bytes.')
    bytes += chunk.length
    if (bytes > maxBytes) throw new BodyRefused(faults.tooLarge)
    if (count(chunk) > maxValues) throw new BodyRefused(faults.tooManyValues)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Counts, piece by piece, each start of a list or an object and each further value in one; strings do not count. */
function valueCounter(): (piece: Buffer) => number {
  let count = 0
  let isInString = false
  let isEscaped = false
  return (piece) => {
    // By index: an iterator takes several times as long.
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]
      if (!isInString) {
        if (byte === quote) isInString = true
        else if (byte === comma || byte === bracket || byte === brace) count += 1
      } else if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) isInString = false
    }
    return count
  }
}

const [quote, comma, bracket, brace, backslash] = Buffer.from('",[{\\')
