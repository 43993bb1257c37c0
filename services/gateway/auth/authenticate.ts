/** Reads the bearer token: `state.identity` is who it names, or `null`. */
import type { Middleware } from 'koa'
import type { Sessions } from '#platform/http/session.ts'

export function authenticate(sessions: Sessions): Middleware {
  return async (context, next) => {
    const [scheme, token] = context.get('authorization').split(' ')
    const bearer = scheme?.toLowerCase() === 'bearer' ? token : undefined
    context.state.identity = bearer === undefined ? null : ((await sessions.verify(bearer)) ?? null)
    await next()
  }
}
