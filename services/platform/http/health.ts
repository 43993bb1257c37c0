/** What an orchestrator asks: whether the process lives, and whether its parts answer. */
import type { Middleware } from 'koa'
import { withinOr } from '#platform/async/timeLimit.ts'

/** By name, what must answer; each throws when it does not. */
export type Parts = ReadonlyMap<string, () => Promise<void>>

/** What whoever operates it should know beside: sentences, by the part that they are of. */
export type Details = () => Readonly<Record<string, readonly string[]>>

const answersWithinMs = 3_000

/** `/healthz`: alive. `/readyz`: every part answers within 3 seconds; else 503 with those that do not. What is in `details` makes nothing unready. */
export function health(parts: Parts, details: Details = () => ({})): Middleware {
  return async (context, next) => {
    if (context.path === '/healthz') {
      context.body = { alive: true }
      return
    }
    if (context.path !== '/readyz') return next()
    const asked = [...parts].map(async ([name, ready]) => [name, await answers(ready)] as const)
    const states = await Promise.all(asked)
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
  return withinOr(answersWithinMs, answered, false)
}
