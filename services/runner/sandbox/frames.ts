/** Several outputs in one stream, as the container engine sends them: eight bytes that say which and how long, then what was said. */
import type { Readable } from 'node:stream'

const headBytes = 8

/** The parts as they come, not the whole frames: a large one is never held. Throws what the stream throws, and for half a frame at its end. */
export async function* partsOf(
  stream: Readable,
): AsyncGenerator<{ readonly kind: number; readonly bytes: Buffer }> {
  let waiting: Buffer = Buffer.alloc(0)
  let kind = 0
  let left = 0
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('frames are bytes')
    waiting = waiting.length === 0 ? Buffer.from(chunk) : Buffer.concat([waiting, chunk])
    while (waiting.length > 0) {
      if (left === 0) {
        if (waiting.length < headBytes) break
        kind = waiting.readUInt8(0)
        left = waiting.readUInt32BE(4)
        waiting = waiting.subarray(headBytes)
        continue
      }
      const bytes = waiting.subarray(0, left)
      left -= bytes.length
      waiting = waiting.subarray(bytes.length)
      yield { kind, bytes }
    }
  }
  if (left > 0 || waiting.length > 0) throw new Error('a stream of the container ended in the midst')
}
