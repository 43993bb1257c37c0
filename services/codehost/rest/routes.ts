/** The REST API, in GitHub's shapes: what the product asks for. */
import { Router } from '@koa/router'
import type { Host } from '../host.ts'
import { checkRoutes } from './checks.ts'
import { issueCommentRoutes } from './issueComments.ts'
import { issueRoutes } from './issues.ts'
import { pullRoutes } from './pulls.ts'
import { repositoryRoutes } from './repositories.ts'
import { reviewCommentRoutes } from './reviewComments.ts'
import { reviewRoutes } from './reviews.ts'
import { userRoutes } from './user.ts'

export function restRoutes(host: Host): Router {
  const router = new Router({ prefix: '/api/v3' })
  userRoutes(router, host)
  repositoryRoutes(router, host)
  // Before those of one pull request: `comments` is no number.
  reviewCommentRoutes(router, host)
  pullRoutes(router, host)
  reviewRoutes(router, host)
  issueCommentRoutes(router, host)
  issueRoutes(router, host)
  checkRoutes(router, host)
  return router
}
