/**
 * A stand-in for GitHub: the local code host, with what only GitHub has: Apps with installations and permissions, webhooks with redelivery, checks,
 * limits, protected branches, and repositories that are renamed, transferred, archived or deleted.
 */
import { resolve } from 'node:path'
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import type { Clock } from '#platform/ports/clock.ts'
import { startCodeHost, type RunningCodeHost } from '../../../services/codehost/codehost.ts'
import type { CodeHostOptions } from '../../../services/codehost/openHost.ts'
import type { Hook } from '../../../services/codehost/webhookSender.ts'
import type { Extension, Host } from '../../../services/codehost/host.ts'
import { notFound } from '../../../services/codehost/httpError.ts'
import { openStateFile } from '../../../services/codehost/state/store.ts'
import { appByClientId, hasSecret, openConfiguredApp, type AppCredentials } from './apps/apps.ts'
import { createInstallations } from './apps/installations.ts'
import { createRegistrations } from './apps/registrations.ts'
import type { TokenShape } from './apps/tokens.ts'
import { createChanges } from './changes.ts'
import { callerWith } from './callers.ts'
import { actionsReporter, createChecks, type Checks } from './checks/checks.ts'
import { completed } from './completed.ts'
import { checkRollup } from './checks/graphql.ts'
import { openLogs } from './checks/logs.ts'
import { reportsOf, rollupOf } from './checks/rollup.ts'
import { redirectFormer, refuseArchivedWrites } from './formerNames.ts'
import { guardRoutes } from './guards.ts'
import type { GitHubHost } from './host.ts'
import { conditional } from './conditional.ts'
import { createLifecycle } from './lifecycle.ts'
import { createLimits, type Limits, type RateLimits } from './limits.ts'
import { checkFacts, checkPages } from './pages/checkPages.ts'
import { appPages } from './pages/appPages.ts'
import { installationPages } from './pages/installationPages.ts'
import { pushGuards } from './pushGuard.ts'
import { jobLogRoute } from './rest/statuses.ts'
import { gitHubRoutes, guardedRoutes } from './rest/routes.ts'
import { appWithId } from './rest/viaApp.ts'
import { reviewDecisionOf } from './reviewDecision.ts'
import { emptyGitHub, GitHubState } from './state.ts'
import { openWebhooks, type Webhooks } from './webhooks/deliveries.ts'
import { openWorkflowGuard } from './workflowGuard.ts'

export interface GitHubOptions extends Omit<CodeHostOptions, 'extend' | 'hook'> {
  /** Whether Flightdeck is registered here as an App, and installed by every account; by default `installed`. */
  readonly app?: 'installed' | 'registered' | 'none'
  /** The App's key in PEM; by default a key is created on the first start and kept in `dataDir`. */
  readonly appPrivateKey?: string
  /**
   * The number of requests per hour for each token's holder; `null` for no limits, as on GitHub Enterprise Server. By default the limits are out of
   * reach.
   */
  readonly rateLimits?: RateLimits | null
  /** The form of installation tokens, unless a request names the other one; short by default. */
  readonly tokenShape?: TokenShape
  /** Whether an App may have its hook on this machine, which GitHub refuses. */
  readonly takesLoopbackHooks?: boolean
  /** The address to which webhooks for Flightdeck are sent; by default they are not sent. */
  readonly hook?: Hook
}

export interface RunningGitHub extends RunningCodeHost {
  readonly webhooks: Webhooks
  readonly limits: Limits
  /** The credentials of Flightdeck's App, if it is registered. */
  readonly app: AppCredentials | null
  /** Reports checks as the App `github-actions` would, with logs of any length. */
  readonly reportCheck: ReportCheck
}

export type ReportCheck = (
  owner: string,
  name: string,
  report: Parameters<Checks['report']>[2],
) => ReturnType<Checks['report']>

/** Starts the stand-in; throws as the code host does. */
export async function startGitHub(options: GitHubOptions): Promise<RunningGitHub> {
  const { app: _, hook: __, ...own } = options
  let opened: Awaited<ReturnType<typeof openGitHub>> | undefined
  const running = await startCodeHost({
    ...own,
    extend: async (host) => {
      opened = await openGitHub(host, options)
      return extensionOf(opened)
    },
  })
  if (!opened) throw new Error('The code host did not open its extension.')
  const github = opened
  return {
    ...running,
    webhooks: github.webhooks,
    limits: github.limits,
    app: github.app,
    reportCheck: (owner, name, report) => {
      const repository = github.repositories.find(owner, name)
      if (!repository) throw notFound()
      return github.checks.report(repository, actionsReporter, report)
    },
    stop: async () => {
      await running.stop()
      await github.github.settled()
    },
  }
}

/** More requests per hour than a whole day of tests makes. */
const generousLimits: RateLimits = { core: 100_000, graphql: 100_000 }

async function openGitHub(
  host: Host,
  options: GitHubOptions,
): Promise<GitHubHost & { readonly app: AppCredentials | null }> {
  const { store, repositories, clock, log } = host
  const dataDir = resolve(options.dataDir)
  const github = await openStateFile(dataDir, {
    name: 'github.json',
    schema: GitHubState,
    empty: emptyGitHub,
  })
  const app = await openApp(options, { dataDir, store: github, clock })
  const webhooks = openWebhooks({ clock, log, host: () => made })
  const { tell } = webhooks
  const { rateLimits = generousLimits, tokenShape = 'short', takesLoopbackHooks = false } = options
  const made: GitHubHost & { readonly app: AppCredentials | null } = {
    ...host,
    github,
    app,
    webhooks,
    installations: createInstallations({
      store: github,
      clock,
      repositories: () => store.current().repositories,
      tell: webhooks.tellApp,
    }),
    manifests: createRegistrations({ store: github, clock }),
    changes: createChanges(host),
    checks: createChecks({ store: github, clock, tell, logs: openLogs(dataDir, clock) }),
    lifecycle: createLifecycle({ store, github, repositories, clock, tell }),
    limits: createLimits(rateLimits, { store, github, clock }),
    tokenShape,
    takesLoopbackHooks,
    workflowGuard: await openWorkflowGuard(dataDir),
  }
  return made
}

function openApp(
  { app = 'installed', clientId, clientSecret, redirectUris = [], hook, ...options }: GitHubOptions,
  parts: { readonly dataDir: string; readonly store: GitHubHost['github']; readonly clock: Clock },
): Promise<AppCredentials | null> {
  const wanted = {
    clientId,
    clientSecret,
    privateKey: options.appPrivateKey ?? null,
    callbackUrls: redirectUris,
    hook: hook ?? null,
    isInstalled: app === 'installed',
  }
  return openConfiguredApp(app === 'none' ? null : wanted, parts)
}

/** Completes answers of the REST API with all members that GitHub gives. */
const completing =
  (host: GitHubHost): Middleware =>
  async (ctx, next) => {
    await next()
    const isAnswer = ctx.path.startsWith('/api/v3/') && ctx.type === 'application/json'
    if (isAnswer) ctx.body = completed(ctx.body, host)
  }

function extensionOf(host: GitHubHost): Extension {
  const { github, webhooks, lifecycle } = host
  return {
    // A conditional request that finds nothing new does not count.
    before: [
      redirectFormer(host),
      host.limits.middleware,
      conditional,
      completing(host),
      refuseArchivedWrites(host),
    ],
    routers: [gitHubRoutes(host), guardRoutes(host), guardedRoutes(host), pages(host)],
    callerOf: (token) => {
      const caller = callerWith(token, host)
      return caller && { kind: 'somebody', account: caller.account, appId: caller.app.id }
    },
    clientWith: (clientId) => {
      const app = appByClientId(github.current(), clientId)
      return app && { ...app, hasSecret: (secret) => hasSecret(app, secret) }
    },
    accessEnded: (clientId, sender) => {
      const app = appByClientId(github.current(), clientId)
      if (app) webhooks.tellApp({ kind: 'github_app_authorization', action: 'revoked', app, sender })
    },
    tell: webhooks.tell,
    ...pushGuards(host),
    reviewDecision: (repository, pull) => reviewDecisionOf(host, repository, pull),
    isProtected: (repository, branch) => lifecycle.protectionOf(repository, branch) !== undefined,
    checks: (repository, sha) => rollupOf(reportsOf(github.current(), repository.id, sha)),
    checkRollup: (ctx, repository, sha) => checkRollup(host, ctx, repository, sha),
    pullFacts: (repository, pull) => checkFacts(host, repository, pull),
    appAnswer: (origin, id) => appWithId(github.current(), origin, id),
  }
}

function pages(host: GitHubHost): Router {
  const router = new Router()
  jobLogRoute(router, host)
  appPages(router, host)
  installationPages(router, host)
  checkPages(router, host)
  return router
}
