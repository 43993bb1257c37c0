/** A time limit on requests. */
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import { within } from '#platform/async/timeLimit.ts'

/** Responds with `timeout` after `ms` milliseconds. The work itself continues, but nobody waits for it. */
export function timeLimit(ms: number): Middleware {
  return (_, next) => within(ms, next(), () => new Fault('timeout'))
}
