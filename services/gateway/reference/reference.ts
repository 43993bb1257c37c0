/** The contract, served: the OpenAPI document, and the same as a page. */
import type { Middleware } from 'koa'
import { openApi } from './openapi.ts'
import package_ from '../../../package.json' with { type: 'json' }
import { referencePage } from './page.ts'

/** `GET /api/openapi.json` and `GET /api/docs`, open to anybody; other addresses fall through. Both are made once. */
export function reference(): Middleware {
  const document = openApi({ version: package_.version })
  const answers = new Map([
    ['/api/openapi.json', { type: 'application/json', body: JSON.stringify(document, null, 1) }],
    ['/api/docs', { type: 'text/html; charset=utf-8', body: referencePage(document) }],
  ])
  return (context, next) => {
    const answer = answers.get(context.path)
    if (!answer || (context.method !== 'GET' && context.method !== 'HEAD')) return next()
    // No router answers here, so the route for the metrics is set by hand.
    context.state.route = context.path
    context.type = answer.type
    context.body = answer.body
  }
}
