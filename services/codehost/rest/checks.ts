/** Checks, of which the code host alone has none: nothing runs here that could report one. */
import type { Router } from '@koa/router'
import type { Host } from '../host.ts'
import { aboutAsked } from './repositories.ts'

export function checkRoutes(router: Router, host: Host): void {
  const commit = '/repos/:owner/:repo/commits/*ref'
  router.get(`${commit}/check-runs`, (ctx) => {
    aboutAsked(ctx, host)
    ctx.body = { total_count: 0, check_runs: [] }
  })
  router.get(`${commit}/status`, (ctx) => {
    aboutAsked(ctx, host)
    ctx.body = { state: 'pending', total_count: 0, statuses: [] }
  })
}
