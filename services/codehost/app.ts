/** The local code host as a Koa application: the order in which its parts get a request, and how refusals are answered. */
import { parse as parseForm } from 'node:querystring'
import Koa, { type Context, type Middleware } from 'koa'
import { Fault, faults } from '#domain/kernel/errors.ts'
import { createBodies, parseJson } from '#platform/http/bodies.ts'
import { createGitBackend, gitPath } from './gitHttp/backend.ts'
import { createLfs, lfsPath } from './gitHttp/lfs.ts'
import type { Host } from './host.ts'
import { refuseForeignHost } from './http/origin.ts'
import { notFound, Refusal } from './httpError.ts'
import { oauthRoutes } from './oauth.ts'
import { protect } from './pages/layout.ts'
import { pageRoutes, showRefusal } from './pages/routes.ts'
import { restRoutes } from './rest/routes.ts'
import { Router } from '@koa/router'

/** Creates the application. Requests of git are answered before bodies are read, because git's bodies are streamed. Pages come last. */
export function createApp(host: Host, listensOn: string): Koa {
  const app = new Koa()
  const git = createGitBackend(host)
  const lfs = createLfs(host)
  app.on('error', (error: NodeJS.ErrnoException) => {
    const clientWent = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '')
    if (!clientWent) host.log(`An answer broke off: ${error.message}`)
  })

  app.use(async (ctx, next) => {
    protect(ctx)
    try {
      refuseForeignHost(ctx, listensOn)
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw notFound()
    } catch (error) {
      refuse(ctx, error instanceof Refusal ? error : unexpected(host, ctx, error))
    }
  })
  for (const middleware of host.extension.before ?? []) app.use(middleware)
  app.use((ctx, next) => git(ctx) ?? lfs(ctx) ?? next())
  app.use(readBody())
  const own = [restRoutes(host), graphqlRoutes(host), oauthRoutes(host), pageRoutes(host)]
  for (const router of [...(host.extension.routers ?? []), ...own]) app.use(router.routes())
  return app
}

function unexpected(host: Host, ctx: Context, error: unknown): Refusal {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
  host.log(`${ctx.method} ${ctx.path} failed: ${reason}`)
  return new Refusal(500, 'Something went wrong on the code host. See its log for details.')
}

/** Answers with a refusal: in GitHub's JSON for the API, OAuth tokens and Git LFS, as plain text for git, and as a page for people. */
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

/** Reads the body into `ctx.request.body`: JSON for the API, forms for pages, at most 1 MiB. Throws Refusal 400, 408, 413, 415, 429 or 503. */
function readBody(): Middleware {
  const bodies = createBodies()
  return async (ctx, next) => {
    if (!withBody.has(ctx.method)) return next()
    // Below `/api/`, any body is read as JSON, whatever its media type, as GitHub's API does.
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

function graphqlRoutes(host: Host): Router {
  const router = new Router()
  router.post('/api/graphql', async (ctx) => {
    // Loading GraphQL takes a tenth of the start-up time, and most starts do not need it at once.
    const { answerGraphql } = await import('./graphql/endpoint.ts')
    await answerGraphql(ctx, host)
  })
  return router
}
