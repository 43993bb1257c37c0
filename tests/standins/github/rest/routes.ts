/** Routes of the REST API that only GitHub has. */
import { Router } from '@koa/router'
import { notFound } from '../../../../services/codehost/httpError.ts'
import { appBySlug } from '../apps/apps.ts'
import type { GitHubHost } from '../host.ts'
import { webhookRoutes } from '../webhooks/routes.ts'
import { appRoutes } from './apps.ts'
import { checkRoutes } from './checks.ts'
import { collaboratorRoutes } from './collaborators.ts'
import { installationRoutes, installationTokenRoutes } from './installations.ts'
import { issueRoutes } from './issues.ts'
import { lifecycleRoutes } from './lifecycle.ts'
import { otherRoutes } from './unusedRoutes.ts'
import { pullFigureRoutes } from './pullFigures.ts'
import { reviewCommentRoutes } from './reviewComments.ts'
import { reviewRoutes } from './reviews.ts'
import { jobRoutes, statusRoutes } from './statuses.ts'
import { userRepositoryRoute } from './userRepositories.ts'

export function gitHubRoutes(host: GitHubHost): Router {
  const router = new Router({ prefix: '/api/v3' })
  router.get('/rate_limit', host.limits.answer)
  // A bot exists as long as its App does.
  router.get('/users/:login', (ctx, next) => {
    const [, slug] = /^(.*)\[bot\]$/i.exec(ctx.params['login'] ?? '') ?? []
    if (slug !== undefined && !appBySlug(host.github.current(), slug)) throw notFound()
    return next()
  })
  installationRoutes(router, host)
  installationTokenRoutes(router, host)
  appRoutes(router, host)
  lifecycleRoutes(router, host)
  collaboratorRoutes(router, host)
  checkRoutes(router, host)
  statusRoutes(router, host)
  jobRoutes(router, host)
  webhookRoutes(router, host)
  return router
}

/** Routes that the table of permissions protects. */
export function guardedRoutes(host: GitHubHost): Router {
  const router = new Router({ prefix: '/api/v3' })
  // Registered before the routes of one pull request, so that `comments` is not taken for a number.
  reviewCommentRoutes(router, host)
  pullFigureRoutes(router, host)
  userRepositoryRoute(router, host)
  reviewRoutes(router, host)
  issueRoutes(router, host)
  otherRoutes(router, host)
  return router
}
