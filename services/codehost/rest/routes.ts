/** The REST API: the routes of GitHub's REST API that the product uses. Those that end OAuth tokens and grants are in `oauth.ts`. */
import { Router } from '@koa/router'
import type { Host } from '../host.ts'
import { issueCommentRoutes, issueRoutes } from './issues.ts'
import { pullRoutes } from './pulls.ts'
import { repositoryRoutes, aboutAsked } from './repositories.ts'
import { reviewCommentRoutes, reviewRoutes } from './reviews.ts'
import { userRoutes } from './user.ts'

export function restRoutes(host: Host): Router {
  const router = new Router({ prefix: '/api/v3' })
  userRoutes(router, host)
  repositoryRoutes(router, host)
  // These routes come before `pullRoutes`, which would take `comments` in their path for the number of a pull request.
  reviewCommentRoutes(router, host)
  pullRoutes(router, host)
  reviewRoutes(router, host)
  issueCommentRoutes(router, host)
  issueRoutes(router, host)
  checkRoutes(router, host)
  return router
}

/** The routes for the checks of a commit. Their lists are empty, because nothing reports checks to the local code host. */
function checkRoutes(router: Router, host: Host): void {
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
