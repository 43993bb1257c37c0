/**
 * The local code host: sign-in, repositories, git over HTTP, pull requests and issues on one port, in GitHub's ways, for trying the
 * product offline. Its accounts have no passwords: it belongs on loopback.
 */
import { mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { drain, listen } from '#platform/http/listen.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { createApp } from './app.ts'
import { createGit, type Environment, type Git } from './git/run.ts'
import { createHook, type Hook } from './hook.ts'
import type { Extension, Host, OAuthClient } from './host.ts'
import { isLoopback } from './http/baseUrl.ts'
import { createIssues } from './issues/issues.ts'
import { sameSecret } from './oauth.ts'
import { createPullRequests } from './pulls/pullRequests.ts'
import { openRepositories } from './repositories/repositories.ts'
import { createComments } from './reviews/comments.ts'
import { createReviews } from './reviews/reviews.ts'
import { makeSamples } from './samples.ts'
import { importSeeds, type Seed } from './seeds.ts'
import { createCodes } from './state/codes.ts'
import type { HostEvent } from './state/events.ts'
import { openStore } from './state/store.ts'

export interface CodeHostOptions {
  /** Where repositories and state are kept; made when missing. One process at a time. */
  readonly dataDir: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly clientId: string
  readonly clientSecret: string
  /** Addresses that a person may be sent back to, besides http ones on loopback. */
  readonly redirectUris?: readonly string[]
  /** Repositories that are brought in as public ones of `ada`; with none, and nothing here, samples are made. */
  readonly seeds: readonly Seed[]
  /** The operator's environment: of it git gets PATH, and to clone a seed what reaches other hosts (HOME, ssh agent, proxies). */
  readonly environment: Environment
  /** Where Flightdeck is told by webhooks what happens; by default nowhere. */
  readonly hook?: Hook
  /** What the code host does besides, made once it is open; by default nothing. */
  readonly extend?: (host: Host) => Promise<Extension>
  readonly clock?: Clock
  /** Takes one line without a secret in it. */
  readonly log: (line: string) => void
}

export interface RunningCodeHost {
  /** Where browsers find it: by `localhost` when it listens on loopback. */
  readonly url: string
  readonly port: number
  /** Answers what is under way, for 3 s at most, and leaves no process behind. */
  stop(): Promise<void>
}

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
    const host = await openHost({ ...options, dataDir }, { git, store, port })
    gate.open(createApp(host, options.host).callback())
    return {
      url: host.url,
      port,
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
  const { dataDir, log, clock = { now: () => new Date() } } = options
  const tellHook = options.hook ? createHook(options.hook, log) : undefined
  const extension: { -readonly [Name in keyof Extension]: Extension[Name] } = {}
  const tell = (event: HostEvent) => {
    tellHook?.(event)
    extension.tell?.(event)
  }
  const repositories = await openRepositories({ dataDir, store, git, clock, tell })
  const issues = createIssues({ store, clock, tell })
  const standing: Host['pulls']['standing'] = (repository, pull) => ({
    checks: extension.checks?.(repository, pull.headSha) ?? null,
    decision: extension.reviewDecision?.(repository, pull) ?? null,
  })
  const pulls = createPullRequests({ store, repositories, issues, clock, standing, tell })
  const reviews = createReviews({ store, repositories, pulls, clock, tell })
  const comments = createComments({ store, clock, tell })
  const [url, codes, client] = [urlOf(options.host, port), createCodes(clock), clientOf(options)]
  const domain = { repositories, issues, pulls, reviews, comments }
  const host: Host = { url, dataDir, store, git, ...domain, codes, client, clock, extension, tell, log }
  Object.assign(extension, await options.extend?.(host))
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

const clientOf = ({ clientId, clientSecret, redirectUris = [] }: CodeHostOptions): OAuthClient => ({
  clientId,
  name: 'Flightdeck',
  callbackUrls: redirectUris,
  hasSecret: (secret) => sameSecret(secret, clientSecret),
})

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
