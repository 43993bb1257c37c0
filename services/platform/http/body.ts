/** JSON bodies, at most 1 MB each. */
import { parse } from '@hapi/bourne'
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import type { Bodies } from './bodies.ts'

declare module 'koa' {
  interface Request {
    body?: unknown
    rawBody?: string
  }
}

const mostBytes = 1_048_576
const methods: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE'])

/** Reads the body into `context.request.body`. Throws the faults of `Bodies.read`, and `invalid_input` when it is not JSON. */
export function readJson(bodies: Bodies): Middleware {
  return async (context, next) => {
    if (methods.has(context.method) && context.is('json', '+json')) {
      const text = decoded(await bodies.read(context, mostBytes))
      context.request.rawBody = text
      context.request.body = text === '' ? {} : parseJson(text)
    }
    await next()
  }
}

// Drops a byte order mark, which some clients send and which parsers may ignore (RFC 8259, 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes the bytes. Invalid UTF-8 is refused, because replacement characters would change what was sent. */
function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Fault('invalid_input', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.')
  }
}

/** Parses an object or a list. Throws `invalid_input` for anything else, and for keys that would change an object's prototype. */
export function parseJson(text: string): object {
  try {
    const value: unknown = parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Reported below.
  }
  throw new Fault('invalid_input', 'The body is not valid JSON.')
}
