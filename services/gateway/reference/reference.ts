/** Serves the contract as an OpenAPI document and as an HTML page. */
import type { Middleware } from 'koa'
import { openApi } from './openapi.ts'
import package_ from '../../../package.json' with { type: 'json' }
import { referencePage } from './page.ts'

function answers() {
  const document = openApi({ version: package_.version })
  return {
    '/api/openapi.json': { type: 'application/json', body: JSON.stringify(document, null, 1) },
    '/api/docs': { type: 'text/html; charset=utf-8', body: referencePage(document) },
  }
}

const isAddress = (path: string): path is keyof ReturnType<typeof answers> =>
  path === '/api/openapi.json' || path === '/api/docs'

/**
 * Serves `GET /api/openapi.json` and `GET /api/docs` to anybody; other requests pass. Both answers are made at the first request for one of them, so
 * that the start of the server does not wait.
 */
export function reference(): Middleware {
  let made: ReturnType<typeof answers> | undefined
  return (context, next) => {
    if (!isAddress(context.path) || (context.method !== 'GET' && context.method !== 'HEAD')) return next()
    made ??= answers()
    const answer = made[context.path]
    // No router handles this request, so the route for the metrics is set here.
    context.state.route = context.path
    context.type = answer.type
    context.body = answer.body
  }
}
