/** Conditional requests: an answer that has not changed is a 304. As on GitHub, a tag is only valid for the token that it was given to. */
import { createHash } from 'node:crypto'
import type { Middleware } from 'koa'

export const conditional: Middleware = async (ctx, next) => {
  await next()
  if (
    !ctx.path.startsWith('/api/v3/') ||
    ctx.method !== 'GET' ||
    ctx.status !== 200 ||
    ctx.body === undefined
  )
    return
  const of = `${ctx.get('Authorization')}\n${JSON.stringify(ctx.body)}`
  const tag = `W/"${createHash('sha256').update(of).digest('hex')}"`
  ctx.set('ETag', tag)
  ctx.set('Vary', 'Accept, Authorization')
  // Not checked with `ctx.fresh`: GitHub ignores `no-cache`, which `fetch` adds to every conditional request.
  if (ctx.get('If-None-Match').split(/, */).includes(tag)) ctx.status = 304
}
