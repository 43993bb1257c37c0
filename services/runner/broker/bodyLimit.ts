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

/** The whole of a body. Fails with `BodyTooLarge` beyond the limit, and when the client goes away before its end. */
export async function readWhole(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  const collect = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  await pipeline(body, limitBytes(limit), collect)
  return Buffer.concat(chunks).toString('utf8')
}
