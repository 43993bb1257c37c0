/** JSON bodies, at most 1 MB of them once they are unpacked. */
import { parse } from '@hapi/bourne'
import { bodyParser } from '@koa/bodyparser'
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

/** Reads the body into `context.request.body`. Whatever the parser and the unpackers throw is a fault of what was sent. */
export function readJson(): Middleware {
  const read = bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json', 'application/*+json'] },
    textLimit: '1mb',
    parsedMethods: ['POST', 'PUT', 'DELETE'],
    // Byte by byte: decoding as UTF-8 here would silently replace invalid bytes.
    encoding: 'binary',
    onError(thrown) {
      const status = 'status' in thrown ? thrown.status : undefined
      if (status === 413) throw new Fault('too_large')
      if (status === 415) throw new Fault('unsupported_type', 'This Content-Encoding is not supported.')
      throw new Fault('invalid_input', 'The body does not match its Content-Encoding.')
    },
  })
  return (context, next) =>
    read(context, () => {
      const { rawBody: bytes } = context.request
      if (typeof bytes === 'string') {
        const text = decoded(bytes)
        context.request.rawBody = text
        context.request.body = text === '' ? {} : parsed(text)
      }
      return next()
    })
}

const beyondAscii = /[\x80-\xff]/
// Without a byte order mark, which RFC 8259 (8.1) lets a parser ignore and some clients send.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text in a string of bytes. */
function decoded(bytes: string): string {
  // What is ASCII has been read as it is meant.
  if (!beyondAscii.test(bytes)) return bytes
  try {
    return utf8.decode(Buffer.from(bytes, 'binary'))
  } catch {
    throw new Fault('invalid_input', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.')
  }
}

/** An object or a list; refuses keys that would change an object's prototype. */
function parsed(text: string): object {
  try {
    const value: unknown = parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // It is told below.
  }
  throw new Fault('invalid_input', 'The body is not valid JSON.')
}
