/** `/app`: requests of an App with its own token about itself, its installations and its hook. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { organizationOf, ownerOf, personOf } from '../../../../services/codehost/state/accounts.ts'
import { appBySlug } from '../apps/apps.ts'
import { isOn } from '../apps/coverage.ts'
import { makeToken } from '../apps/tokens.ts'
import { asApp } from '../apps/appToken.ts'
import { originOf } from '../../../../services/codehost/http/origin.ts'
import { callerOf } from '../callers.ts'
import { isPrivateHook } from '../apps/manifest.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import type { GitHubHost } from '../host.ts'
import type { App, Installation } from '../state.ts'
import { simpleUser, time } from '../../../../services/codehost/rest/responses.ts'
import { appAnswer } from './appAnswers.ts'
import { written } from './installations.ts'
import { repositoryAnswer } from '../../../../services/codehost/rest/repositories.ts'
import { answerPage, bodyAs } from '../../../../services/codehost/rest/requests.ts'

const TokenRequest = z.object({
  repository_ids: z.array(z.int()).optional(),
  repositories: z.array(z.string()).optional(),
  permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
})

const HookConfig = z.object({
  url: z.url().optional(),
  secret: z.string().optional(),
  content_type: z.string().optional(),
  insecure_ssl: z.union([z.string(), z.number()]).optional(),
})

export function appRoutes(router: Router, host: GitHubHost): void {
  router.get('/app', async (ctx) => {
    const app = await asApp(ctx, host)
    const count = host.github.current().installations.filter(({ appId }) => appId === app.id).length
    ctx.body = appAnswer(originOf(ctx, host.url), app, count)
  })

  router.get('/apps/:slug', (ctx) => {
    const { kind } = callerOf(ctx, host)
    const app = appBySlug(host.github.current(), ctx.params['slug'] ?? '')
    // As on GitHub, a private App is not visible without a token.
    if (!app || (kind === 'nobody' && !app.isPublic)) throw notFound()
    ctx.body = appAnswer(originOf(ctx, host.url), app)
  })

  router.post('/app-manifests/:code/conversions', async (ctx) => {
    const made = await host.manifests.convert(ctx.params['code'] ?? '')
    if (!made) throw notFound()
    const { app, clientSecret, webhookSecret, pem } = made
    ctx.status = 201
    ctx.body = {
      ...appAnswer(originOf(ctx, host.url), app),
      client_secret: clientSecret,
      webhook_secret: webhookSecret,
      pem,
    }
  })

  installationCalls(router, host)
  whereInstalled(router, host)
  hookCalls(router, host)
}

function installationCalls(router: Router, host: GitHubHost): void {
  router.get('/app/installations', async (ctx) => {
    const app = await asApp(ctx, host)
    const origin = originOf(ctx, host.url)
    const found = host.github.current().installations.filter(({ appId }) => appId === app.id)
    answerPage(ctx, origin, found, (one) => written(origin, one, app))
  })

  router.get('/app/installation-requests', async (ctx) => {
    const app = await asApp(ctx, host)
    const origin = originOf(ctx, host.url)
    const found = host.github.current().installationRequests.filter(({ appId }) => appId === app.id)
    answerPage(ctx, origin, found, ({ id, account, requester, createdAt }) => {
      const [asked, asking] = [ownerOf(account), personOf(requester)]
      if (!asked || !asking) throw notFound()
      return {
        id,
        account: simpleUser(origin, asked),
        requester: simpleUser(origin, asking),
        created_at: time(createdAt),
      }
    })
  })

  router.get('/app/installations/:id', async (ctx) => {
    const app = await asApp(ctx, host)
    ctx.body = written(originOf(ctx, host.url), installationOf(host, app, ctx.params['id']), app)
  })

  router.delete('/app/installations/:id', async (ctx) => {
    const app = await asApp(ctx, host)
    await host.installations.uninstall(installationOf(host, app, ctx.params['id']).id, null)
    ctx.status = 204
  })

  router.register('/app/installations/:id/suspended', ['put', 'delete'], async (ctx) => {
    const app = await asApp(ctx, host)
    const { id } = installationOf(host, app, ctx.params['id'])
    await host.installations.setSuspended(id, ctx.method === 'PUT', null)
    ctx.status = 204
  })

  router.post('/app/installations/:id/access_tokens', (ctx) => answerToken(ctx, host))
}

function whereInstalled(router: Router, host: GitHubHost): void {
  router.get('/repos/:owner/:repo/installation', async (ctx) => {
    const app = await asApp(ctx, host)
    const repository = host.repositories.find(ctx.params['owner'] ?? '', ctx.params['repo'] ?? '')
    const found = repository && ofApp(host, app).find((one) => isOn(one, repository))
    if (!found) throw notFound()
    ctx.body = written(originOf(ctx, host.url), found, app)
  })

  for (const [path, accountWith] of [
    ['/orgs/:login/installation', organizationOf],
    ['/users/:login/installation', personOf],
  ] as const) {
    router.get(path, async (ctx) => {
      const app = await asApp(ctx, host)
      const login = accountWith(ctx.params['login'] ?? '')?.login
      const found = ofApp(host, app).find(({ account }) => account === login)
      if (!found) throw notFound()
      ctx.body = written(originOf(ctx, host.url), found, app)
    })
  }
}

async function answerToken(
  ctx: Context & { params: Record<string, string> },
  host: GitHubHost,
): Promise<void> {
  const app = await asApp(ctx, host)
  const installation = installationOf(host, app, ctx.params['id'])
  ctx.request.body ??= {}
  const body = bodyAs(ctx, TokenRequest, 'Installation')
  const isAskedLong = ctx.get('X-GitHub-Stateless-S2S-Token') === 'enabled'
  const made = await makeToken(
    host,
    installation,
    { ...body, repositoryIds: body.repository_ids },
    isAskedLong ? 'long' : host.tokenShape,
  )
  const origin = originOf(ctx, host.url)
  const isSelected = made.kept.repositoryIds !== null || installation.repositoryIds !== null
  ctx.status = 201
  ctx.body = {
    token: made.token,
    expires_at: time(made.kept.expiresAt),
    permissions: made.kept.permissions,
    repository_selection: isSelected ? 'selected' : 'all',
    ...(made.kept.repositoryIds === null
      ? {}
      : { repositories: made.repositories.map((one) => repositoryAnswer(host, origin, one, undefined)) }),
  }
}

function hookCalls(router: Router, host: GitHubHost): void {
  router.get('/app/hook/config', async (ctx) => {
    ctx.body = hookAnswer(await asApp(ctx, host))
  })

  router.patch('/app/hook/config', async (ctx) => {
    const app = await asApp(ctx, host)
    const { url, secret } = bodyAs(ctx, HookConfig, 'Hook')
    if (url !== undefined && !host.takesLoopbackHooks && isPrivateHook(url)) {
      throw new Refusal(422, "url host isn't supported because it isn't reachable over the public Internet")
    }
    const hook = {
      url: url ?? app.hook?.url ?? '',
      // A person must activate a hook that was added by this call, in the App's settings.
      active: app.hook?.active ?? false,
      secret: secret ?? app.hook?.secret ?? null,
    }
    await host.github.update((state) => [
      { ...state, apps: state.apps.map((one) => (one.id === app.id ? { ...one, hook } : one)) },
      undefined,
    ])
    ctx.body = hookAnswer({ hook })
  })
}

/** The schema `webhook-config`; a secret is never shown again. */
const hookAnswer = ({ hook }: Pick<App, 'hook'>) => ({
  content_type: 'json',
  insecure_ssl: '0',
  ...(hook ? { url: hook.url } : {}),
  ...(hook?.secret ? { secret: '********' } : {}),
})

const ofApp = (host: GitHubHost, { id }: App): readonly Installation[] =>
  host.github.current().installations.filter(({ appId }) => appId === id)

function installationOf(host: GitHubHost, app: App, id: string | undefined): Installation {
  const found = ofApp(host, app).find((one) => String(one.id) === id)
  if (!found) throw notFound()
  return found
}
