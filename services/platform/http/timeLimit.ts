/** No request is left without an answer for longer than its time. */
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

/** Answers `timeout` when nothing else was answered within the time, ms. What is still under way goes on and is not waited for. */
export function timeLimit(ms: number): Middleware {
  return async (_, next) => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Fault('timeout')), ms)
    })
    try {
      await Promise.race([next(), late])
    } finally {
      clearTimeout(timer)
    }
  }
}
