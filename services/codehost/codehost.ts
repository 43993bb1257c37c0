/**
 * The local code host: GitHub's sign-in, REST subset, git over HTTP and pull request pages on one port, for trying the
 * product offline and for tests. Three accounts without passwords: it belongs on loopback.
 */
import { mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { drain, listen } from '#platform/http/listen.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { createGit, type Environment, type Git } from './git/run.ts'
import { createCodes } from './codes.ts'
import { openWorkflowGuard } from './git/workflowGuard.ts'
import type { Host } from './services.ts'
import { createApp } from './http/app.ts'
import { isLoopback, openRepositories } from './repositories.ts'
import { createPullRequests } from './pullRequests.ts'
import { actionsReporter, createChecks, type Checks } from './checks/checks.ts'
import { createLifecycle } from './lifecycle.ts'
import { createIssues } from './issues/issues.ts'
import { openLogs } from './checks/logs.ts'
import { createComments } from './reviews/comments.ts'
import { createReviews } from './reviews/reviews.ts'
import { notFound } from './httpError.ts'
import { makeSamples } from './samples.ts'
import { createInstallations } from './apps/installations.ts'
import { createRegistrations } from './apps/registrations.ts'
import type { TokenShape } from './apps/tokens.ts'
import { createLimits, type Limits, type RateLimits } from './http/limits.ts'
import { openConfiguredApp, type AppCredentials, type ConfiguredApp } from './apps/apps.ts'
import { importSeeds, type Seed } from './seeds.ts'
import { openStore } from './store.ts'
import { openWebhooks, type Hook, type Webhooks } from './webhooks/deliveries.ts'

export interface CodeHostOptions {
  /** Where repositories and state are kept; made when missing. One process at a time. */
  readonly dataDir: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Whether Flightdeck is registered here as an App, and installed by every account; by default `installed`. */
  readonly app?: 'installed' | 'registered' | 'none'
  /** The App's key, PEM; without it one is made on the first start and kept in `dataDir`. */
  readonly appPrivateKey?: string
  readonly clientId: string
  readonly clientSecret: string
  /** Addresses that a person may be sent back to, besides http ones on loopback. */
  readonly redirectUris?: readonly string[]
  /** Repositories that are brought in as public ones of `ada`; with none, and nothing here, samples are made. */
  readonly seeds: readonly Seed[]
  /** The operator's environment: of it git gets PATH, and to clone a seed what reaches other hosts (HOME, ssh agent, proxies). */
  readonly environment: Environment
  /** Requests an hour of each token's holder; `null`: none, as on GitHub Enterprise Server. By default far away. */
  readonly rateLimits?: RateLimits | null
  /** The shape of installations' tokens, unless a request names the other; by default short. */
  readonly tokenShape?: TokenShape
  /** Whether an App may have its hook on this machine, for tests: GitHub refuses that. */
  readonly takesLoopbackHooks?: boolean
  /** Where Flightdeck is told by webhooks what happens; by default nowhere. */
  readonly hook?: Hook
  readonly clock?: Clock
  /** Takes one line without a secret in it. */
  readonly log: (line: string) => void
}

export interface RunningCodeHost {
  /** Where browsers find it: by `localhost` when it listens on loopback. */
  readonly url: string
  readonly port: number
  readonly webhooks: Webhooks
  readonly limits: Limits
  /** Flightdeck's App, where one is registered. */
  readonly app: AppCredentials | null
  /** Reports checks as the App `github-actions` would, with logs of any length. */
  readonly reportCheck: ReportCheck
  /** Answers what is under way, for 3 s at most, and leaves no process behind. */
  stop(): Promise<void>
}

export type ReportCheck = (
  owner: string,
  name: string,
  report: Parameters<Checks['report']>[2],
) => ReturnType<Checks['report']>

/**
 * Starts the code host. Throws a sentence that says what to do when the port is taken, the folder cannot be used, git is
 * missing or no seed can be brought in; nothing half made is left then.
 */
export async function startCodeHost(options: CodeHostOptions): Promise<RunningCodeHost> {
  const git = createGit(options.environment)
  const gate = createGate()
  const server = createServer(gate.handle)
  // A push may be long; a client that stalls goes.
  server.requestTimeout = 600_000
  server.maxConnections = 1_000
  // Longer than clients keep an idle connection: they end it, and none is cut while a request is on its way.
  server.keepAliveTimeout = 75_000
  const stop = () => stopServer(server, git)
  try {
    const dataDir = resolve(options.dataDir)
    await checkGit(git)
    await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: Error) => {
      throw new Error(`The code host cannot use the folder ${dataDir}: ${error.message}`, { cause: error })
    })
    const store = await openStore(dataDir)
    // The port comes before the seeds: who starts twice learns it before anything is cloned.
    const port = await listen(server, options).catch((error: NodeJS.ErrnoException) => {
      throw unusablePort(options, error)
    })
    const app = await openConfiguredApp(configuredApp(options), { dataDir, store, clock: clockOf(options) })
    const host = await openHost({ ...options, dataDir }, { git, store, port })
    gate.open(createApp(host, options.host).callback())
    return {
      url: host.url,
      port,
      webhooks: host.webhooks,
      limits: host.limits,
      app,
      reportCheck: (owner, name, report) => reportAsActions(host, owner, name, report),
      stop: async () => {
        await stop()
        await store.settled()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openHost(
  options: CodeHostOptions,
  { git, store, port }: { git: Git; store: Host['store']; port: number },
): Promise<Host> {
  const { dataDir, log } = options
  const clock = clockOf(options)
  const webhooks = openWebhooks({ clock, log, host: () => host })
  const repositories = await openRepositories({ dataDir, store, git, clock, tell: webhooks.tell })
  const issues = createIssues({ store, clock, tell: webhooks.tell })
  const pulls = createPullRequests({ store, repositories, issues, clock, tell: webhooks.tell })
  const reviews = createReviews({ store, repositories, pulls, clock, tell: webhooks.tell })
  const comments = createComments({ store, clock, tell: webhooks.tell })
  const checks = createChecks({ store, clock, tell: webhooks.tell, logs: openLogs(dataDir, clock) })
  const url = urlOf(options.host, port)
  const installations = createInstallations({ store, clock, tell: webhooks.tellApp })
  const manifests = createRegistrations({ store, clock })
  const limits = createLimits(options.rateLimits === undefined ? generousLimits : options.rateLimits, {
    store,
    clock,
  })
  const { tokenShape = 'short', takesLoopbackHooks = false } = options
  const lifecycle = createLifecycle({ store, repositories, clock, tell: webhooks.tell })
  const talking = { pulls, reviews, comments, checks, issues, lifecycle, webhooks }
  const workflowGuard = await openWorkflowGuard(dataDir)
  const codes = createCodes(clock)
  const apps = { codes, installations, manifests, limits, tokenShape, takesLoopbackHooks, workflowGuard }
  const host: Host = { url, store, git, repositories, clock, log, ...talking, ...apps }
  if (options.seeds.length > 0) {
    await importSeeds(options.seeds, { git, repositories, log })
  } else if (store.current().repositories.length === 0) {
    await makeSamples({ git, repositories })
  }
  // A push that a crash cut short may have moved branches without their pull requests.
  const withOpenPulls = store
    .current()
    .repositories.filter((one) => pulls.of(one).some((pull) => pull.closedAt === null))
  for (const repository of withOpenPulls) await repositories.settle(repository)
  return host
}

/** More than a day of tests asks for in an hour. */
const generousLimits: RateLimits = { core: 100_000, graphql: 100_000 }

const clockOf = ({ clock }: CodeHostOptions): Clock => clock ?? { now: () => new Date() }

function configuredApp(options: CodeHostOptions): ConfiguredApp | null {
  const { app = 'installed', clientId, clientSecret, redirectUris = [], hook = null } = options
  const privateKey = options.appPrivateKey ?? null
  if (app === 'none') return null
  return {
    clientId,
    clientSecret,
    privateKey,
    callbackUrls: redirectUris,
    hook,
    isInstalled: app === 'installed',
  }
}

function reportAsActions(
  host: Host,
  ...[owner, name, report]: Parameters<ReportCheck>
): ReturnType<ReportCheck> {
  const repository = host.repositories.find(owner, name)
  if (!repository) throw notFound()
  return host.checks.report(repository, actionsReporter, report)
}

function urlOf(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = isLoopback(host) || everywhere ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

async function checkGit(git: Git): Promise<void> {
  const backend = await git.run(['http-backend'])
  if (/is not a git command/.test(backend.stderr)) {
    throw new Error("git's http-backend is missing: install the whole of git (on Alpine: git-daemon).")
  }
}

function unusablePort({ host, port }: CodeHostOptions, error: NodeJS.ErrnoException): Error {
  const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.message})`
  return new Error(`Port ${port} of ${host} ${why}: set CODEHOST_PORT to a free one.`, { cause: error })
}

async function stopServer(server: Server, git: Git): Promise<void> {
  await drain(server, { drainMs: 3_000, sweepMs: 20, giveUp: () => void git.stop() })
  await git.stop()
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Lets requests wait while seeds are brought in. */
function createGate(): { handle: Handler; open(handler: Handler): void } {
  let open: (handler: Handler) => void = () => undefined
  const opened = new Promise<Handler>((resolve) => {
    open = resolve
  })
  return {
    handle: (request, response) => opened.then((handler) => handler(request, response)),
    open: (handler) => open(handler),
  }
}
