/**
 * Splits one stream into the outputs that it carries in frames, as container engines send them. Eight bytes before each frame say to which output it
 * belongs and how long it is.
 */
import type { Readable, Writable } from 'node:stream'

const headBytes = 8

/**
 * The content of frames, piece by piece as it arrives, so that no large frame is held in memory. `kind` is the number of the output. Throws what the
 * stream throws, and throws when the stream ends within a frame.
 */
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

/**
 * Writes each output to its sink, as fast as the sink takes it; `sinks` has the sinks by the number of the output. When the stream or a sink ends,
 * all sinks are ended. A broken stream also ends them without an error, since its fault is reported elsewhere. Outputs without a sink go to `rest`.
 */
export async function pour(
  stream: Readable,
  sinks: ReadonlyMap<number, Writable>,
  rest: (bytes: Buffer) => void = () => undefined,
): Promise<void> {
  try {
    for await (const { kind, bytes } of partsOf(stream)) {
      const sink = sinks.get(kind)
      if (!sink) rest(bytes)
      else if (sink.destroyed) break
      else if (!sink.write(bytes)) await ready(sink)
    }
  } catch {
    // The stream broke off, so the output ends here.
  } finally {
    for (const sink of sinks.values()) if (!sink.writableEnded) sink.end()
  }
}

/** Resolves when the sink takes more, or is closed. */
function ready(sink: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      sink.off('drain', done).off('close', done)
      resolve()
    }
    sink.on('drain', done).on('close', done)
  })
}
