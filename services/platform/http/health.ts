/** Health checks: whether the process is alive, and whether its parts are ready. */
import type { Middleware } from 'koa'
import { withinOr } from '#platform/async/timeLimit.ts'

/** Checks of readiness by name. Each throws when its part is not ready. */
export type Parts = ReadonlyMap<string, () => Promise<void>>

export type Details = () => Readonly<Record<string, readonly string[]>>

const checkTimeoutMs = 3_000

/**
 * `/healthz` answers 200 while the process is alive; `/readyz` answers 200 when every part is ready within 3 seconds, else 503. `details` have no
 * effect on the status.
 */
export function health(parts: Parts, details: Details = () => ({})): Middleware {
  return async (context, next) => {
    if (context.path === '/healthz') {
      context.body = { alive: true }
      return
    }
    if (context.path !== '/readyz') return next()
    const checks = [...parts].map(async ([name, ready]) => [name, await answers(ready)] as const)
    const states = await Promise.all(checks)
    const ready = states.every(([, answered]) => answered)
    context.status = ready ? 200 : 503
    context.body = { ready, parts: Object.fromEntries(states), details: details() }
  }
}

function answers(ready: () => Promise<void>): Promise<boolean> {
  const answered = ready().then(
    () => true,
    () => false,
  )
  return withinOr(checkTimeoutMs, answered, false)
}
