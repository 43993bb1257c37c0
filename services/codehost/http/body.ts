/** Request bodies: JSON for the API, forms for pages, at most 1 MiB of either. */
import { bodyParser } from '@koa/bodyparser'
import type { Middleware } from 'koa'
import { Refusal } from '../httpError.ts'

const limit = '1mb'

/** Reads the body into `ctx.request.body`; throws Refusal 400 or 413. */
export const readBody = (): Middleware =>
  bodyParser({
    enableTypes: ['json', 'form'],
    // GitHub's API takes whatever comes for JSON.
    detectJSON: (ctx) => ctx.path.startsWith('/api/'),
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
    jsonLimit: limit,
    formLimit: limit,
    onError: (error) => {
      const tooLarge = 'status' in error && error.status === 413
      throw tooLarge
        ? new Refusal(413, 'The request is larger than 1 MB.')
        : new Refusal(400, 'Problems parsing JSON')
    },
  })
