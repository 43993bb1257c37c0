/** JSON bodies, at most 1 MB of them once they are unpacked. */
import { bodyParser } from '@koa/bodyparser'
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

/** Reads the body into `context.request.body`. Whatever the parser and the unpackers throw is a fault of what was sent. */
export function readJson(): Middleware {
  return bodyParser({
    enableTypes: ['json'],
    jsonLimit: '1mb',
    parsedMethods: ['POST', 'PUT', 'DELETE'],
    onError(thrown) {
      const status = 'status' in thrown ? thrown.status : undefined
      if (status === 413) throw new Fault('too_large')
      if (status === 415) throw new Fault('unsupported_type', 'This coding of the body is not known.')
      if (status === 400) throw new Fault('invalid_input', 'The body is not valid JSON.')
      throw new Fault('invalid_input', 'The body is not what its coding says.')
    },
  })
}
