/** The code host as a Koa application: which part answers what, and how a refusal looks there. */
import { Router } from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import { createGitBackend, gitPath } from '../git/backend.ts'
import { createLfs, lfsPath } from '../git/lfs.ts'
import type { Host } from '../services.ts'
import { applicationRoutes, oauthRoutes } from '../oauth.ts'
import { protect } from '../pages/layout.ts'
import { pageRoutes, showRefusal } from '../pages/routes.ts'
import { notFound, Refusal } from '../httpError.ts'
import { graphqlRoute } from '../graphql/route.ts'
import { pullRoutes } from '../rest/pulls.ts'
import { checkRoutes } from '../rest/checks.ts'
import { collaboratorRoutes } from '../rest/collaborators.ts'
import { issueRoutes } from '../rest/issues.ts'
import { lifecycleRoutes } from '../rest/lifecycle.ts'
import { reactionRoutes } from '../rest/reactions.ts'
import { issueCommentRoutes } from '../rest/issueComments.ts'
import { reviewCommentRoutes } from '../rest/reviewComments.ts'
import { reviewRoutes } from '../rest/reviews.ts'
import { repositoryRoutes } from '../rest/repositories.ts'
import { appRoutes } from '../rest/apps.ts'
import { installationRoutes, installationTokenRoutes } from '../rest/installations.ts'
import { jobLogRoute, jobRoutes, statusRoutes } from '../rest/statuses.ts'
import { userRoutes } from '../rest/user.ts'
import { webhookRoutes } from '../webhooks/routes.ts'
import { redirectFormer, refuseArchivedWrites } from './formerNames.ts'
import { conditional } from './conditional.ts'
import { refuseForeignHost } from './baseUrl.ts'
import { parse as parseForm } from 'node:querystring'
import { Fault, faults } from '#domain/kernel/errors.ts'
import { createBodies } from '#platform/http/bodies.ts'
import { parseJson } from '#platform/http/body.ts'

/** Routes in the order in which they are asked: git before bodies are read, pages last. */
export function createApp(host: Host, listensOn: string): Koa {
  const app = new Koa()
  const git = createGitBackend(host)
  const lfs = createLfs(host)
  const redirect = redirectFormer(host)
  app.on('error', (error: NodeJS.ErrnoException) => {
    const clientWent = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '')
    if (!clientWent) host.log(`An answer broke off: ${error.message}`)
  })

  app.use(async (ctx, next) => {
    protect(ctx)
    try {
      refuseForeignHost(ctx, listensOn)
      await redirect(ctx, () => git(ctx) ?? lfs(ctx) ?? next())
      if (ctx.status === 404 && ctx.body === undefined) throw notFound()
    } catch (error) {
      refuse(ctx, error instanceof Refusal ? error : unexpected(host, ctx, error))
    }
  })
  app.use(host.limits.middleware)
  app.use(readBody())
  for (const router of [
    apiRoutes(host),
    graphqlRoutes(host),
    logRoutes(host),
    oauthRoutes(host),
    pageRoutes(host),
  ])
    app.use(router.routes())
  return app
}

function apiRoutes(host: Host): Router {
  const router = new Router({ prefix: '/api/v3' })
  router.use(conditional)
  router.use(refuseArchivedWrites(host))
  userRoutes(router, host)
  installationRoutes(router, host)
  installationTokenRoutes(router, host)
  appRoutes(router, host)
  router.get('/rate_limit', host.limits.answer)
  // Before the branches: their names may have a slash.
  lifecycleRoutes(router, host)
  repositoryRoutes(router, host)
  // Before those of one pull request: `comments` is no number.
  reviewCommentRoutes(router, host)
  pullRoutes(router, host)
  reviewRoutes(router, host)
  issueCommentRoutes(router, host)
  issueRoutes(router, host)
  reactionRoutes(router, host)
  collaboratorRoutes(router, host)
  checkRoutes(router, host)
  statusRoutes(router, host)
  jobRoutes(router, host)
  applicationRoutes(router, host)
  webhookRoutes(router, host)
  return router
}

function graphqlRoutes(host: Host): Router {
  const router = new Router({ prefix: '/api' })
  graphqlRoute(router, host)
  return router
}

function logRoutes(host: Host): Router {
  const router = new Router()
  jobLogRoute(router, host)
  return router
}

function unexpected(host: Host, ctx: Context, error: unknown): Refusal {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
  host.log(`${ctx.method} ${ctx.path} failed: ${reason}`)
  return new Refusal(500, 'Something went wrong on the code host. See its log for details.')
}

/** GitHub's JSON under `/api` and for Git LFS, plain text for git, a page for people. */
function refuse(ctx: Context, refusal: Refusal): void {
  if (ctx.path.startsWith('/api/') || ctx.path === '/login/oauth/access_token' || lfsPath.test(ctx.path)) {
    ctx.status = refusal.status
    ctx.body = {
      message: refusal.message,
      ...(refusal.errors.length > 0 ? { errors: refusal.errors } : {}),
      documentation_url: 'https://docs.github.com/rest',
      status: String(refusal.status),
    }
  } else if (gitPath.test(ctx.path)) {
    ctx.status = refusal.status
    ctx.type = 'text/plain; charset=utf-8'
    ctx.body = `${refusal.message}\n`
  } else {
    showRefusal(ctx, refusal)
  }
}

const mostBytes = 1_048_576
const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Reads the body into `ctx.request.body`: JSON for the API, forms for pages, at most 1 MiB of either. Throws Refusal 400, 408, 413, 415, 429 or 503. */
function readBody(): Middleware {
  const bodies = createBodies()
  return async (ctx, next) => {
    if (!withBody.has(ctx.method)) return next()
    // GitHub's API takes whatever comes for JSON.
    const isJson = ctx.path.startsWith('/api/') || ctx.is('json') === 'json'
    ctx.request.body = {}
    try {
      if (isJson || ctx.is('urlencoded')) {
        const text = (await bodies.read(ctx, mostBytes)).toString('utf8')
        if (text !== '') ctx.request.body = isJson ? parseJson(text) : parseForm(text)
      }
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault
      const message = fault.code === 'invalid_input' ? 'Problems parsing JSON' : fault.message
      throw new Refusal(faults[fault.code].status, message)
    }
    return next()
  }
}
