/** JSON bodies, at most 1 MB of them once they are unpacked. */
import { bodyParser } from '@koa/bodyparser'
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

/** Reads the body into `context.request.body`. Whatever the parser and the unpackers throw is a fault of what was sent. */
export function readJson(): Middleware {
  const parse = bodyParser({
    enableTypes: ['json'],
    jsonLimit: '1mb',
    parsedMethods: ['POST', 'PUT', 'DELETE'],
    // Byte by byte: decoded as UTF-8 here, what is none would be replaced without a word.
    encoding: 'binary',
    onError(thrown) {
      const status = 'status' in thrown ? thrown.status : undefined
      if (status === 413) throw new Fault('too_large')
      if (status === 415) throw new Fault('unsupported_type', 'This Content-Encoding is not supported.')
      if (status === 400) throw new Fault('invalid_input', 'The body is not valid JSON.')
      throw new Fault('invalid_input', 'The body does not match its Content-Encoding.')
    },
  })
  return (context, next) =>
    parse(context, () => {
      const { rawBody: bytes } = context.request
      // What is ASCII has been read as it is meant.
      if (typeof bytes === 'string' && beyondAscii.test(bytes)) {
        context.request.rawBody = decoded(bytes)
        context.request.body = JSON.parse(context.request.rawBody)
      }
      return next()
    })
}

const beyondAscii = /[\x80-\xff]/
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text in a string of bytes. */
function decoded(bytes: string): string {
  try {
    return utf8.decode(Buffer.from(bytes, 'binary'))
  } catch {
    throw new Fault('invalid_input', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.')
  }
}
