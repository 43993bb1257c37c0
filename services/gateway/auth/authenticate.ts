/** Reads the bearer token: `state.identity` is who it names, or `null`. */
import type { Middleware } from 'koa'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { Sessions } from '#platform/http/session.ts'

/** Refuses with `not_allowed` somebody who was taken off the list of who may come in, whatever they ask for. */
export function authenticate({
  sessions,
  accessControl,
}: {
  sessions: Sessions
  accessControl: AccessControl
}): Middleware {
  return async (context, next) => {
    const [scheme, token] = context.get('authorization').split(' ')
    const bearer = scheme?.toLowerCase() === 'bearer' ? token : undefined
    const identity = bearer === undefined ? null : ((await sessions.verify(bearer)) ?? null)
    context.state.identity = identity
    if (identity !== null) await accessControl.check(identity.userId)
    await next()
  }
}
