/** The gateway, which is the only public server: the static client, sign-in, the API, webhooks, the socket, previews. */
import Koa, { type Context, type Middleware } from 'koa'
import { createServer } from 'node:http'
import type { Socket as Connection } from 'node:net'
import { withinOr } from '#platform/async/timeLimit.ts'
import { listen } from '#platform/http/listen.ts'
import { getAgents, getNotices, countPageView, type AgentState } from '#domain/api/server.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { projectsView } from '#domain/views/projects.ts'
import { agentFor } from '#platform/connectedRunners.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import { faultResponses } from '#platform/http/faultResponses.ts'
import { createBodies, readJson } from '#platform/http/bodies.ts'
import { networkOf } from '#platform/http/clientNetwork.ts'
import { health } from '#platform/http/health.ts'
import { timeLimit } from '#platform/http/timeLimit.ts'
import { fresh, signedIn, type Person } from '#platform/http/guards.ts'
import { mount, routeWith, type Route } from '#platform/http/route.ts'
import { passwords } from '#platform/credentials/passwords.ts'
import { requests } from '#platform/telemetry/requests.ts'
import { authenticate } from './auth/session.ts'
import { passwordRoutes } from './auth/passwordSignIn.ts'
import { signInRoutes } from './auth/codeHostSignIn.ts'
import { linkRoutes } from './auth/linkRoutes.ts'
import { loginThrottle } from './auth/loginThrottle.ts'
import { mayOpenSocket, originOf, refuseForeignHosts } from './http/allowedHosts.ts'
import { isBelowApi, refuseDisguisedApiPaths, refuseUndecodable } from './http/apiPaths.ts'
import { client, verifierDownload } from './http/staticClient.ts'
import {
  limitAddresses,
  limitPeople,
  onlyJson,
  rate,
  spreadBursts,
  limitConnections,
  limitStrangers,
  type Rate,
} from './http/limits.ts'
import { securityHeaders, trustProxies } from './http/headers.ts'
import { imageRoutes } from './images/routes.ts'
import { announcePresence } from './live/presence.ts'
import { startFeed } from './live/feed.ts'
import { openSocket } from './live/socket.ts'
import { reference } from './reference/reference.ts'
import { previewNames } from './preview/previewNames.ts'
import { previewPasses } from './preview/previewPasses.ts'
import { previewRoutes } from './preview/previewRoutes.ts'
import { servePreviews } from './preview/previews.ts'
import type { GatewayOptions, GatewayServices } from './services.ts'
import { setupPath } from '#domain/api/setup.ts'
import { setupCallback, setupRoutes } from './setup/setup.ts'
import { githubWebhooks } from './webhooks/githubWebhooks.ts'
import { pageRouteOf } from '#domain/api/pageRoutes.ts'

export interface RunningGateway {
  readonly port: number
  /** Stops accepting requests, waits up to 3 s for running ones, and closes the sockets. */
  stop(): Promise<void>
}

const route = routeWith<GatewayServices>()

const requestMs = 30_000
const drainMs = 3_000
/**
 * How long a connection may be idle, for example because a client does not read its answers. While an answer waits to be read, it may be idle up to
 * twice as long. WebSockets have their own pings.
 */
const idleMs = 60_000
/** The maximum number of sockets per person. Each tab of the client needs one. */
const socketsOfPerson = 200
/** How many requests are started in one turn of the event loop. Together they take a few milliseconds. */
const begunAtOnce = 16
/** The rate limit of an address is this many times that of a person, since several people may share an address. */
const addressesMayBeShared = 2

/** Starts the gateway and resolves when it listens. Throws when the port is in use. */
export async function startGateway(
  options: GatewayOptions,
  services: GatewayServices,
): Promise<RunningGateway> {
  const { emit } = services
  const byPerson = rate(options.requestsAMinute)
  const known = (connection: Connection): void => unauthenticated.gone(connection)
  const names = previewNames(options)
  const { sandboxes } = options
  const previewing = sandboxes && { sandboxes, passes: previewPasses(services, sandboxes) }
  const ownRoutes = [...routesOf(options), ...previewRoutes(names, previewing)]
  const app = createApp(options, services, { byPerson, ownRoutes, onSignedIn: known })
  const feed = await startFeed(services)
  const presence = announcePresence(feed, services.bus)
  const http = createServer(
    { requestTimeout: requestMs, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    app.callback(),
  )
  http.setTimeout(idleMs)
  const strangersLimit = { ofAddress: options.strangersOfAddress, isProxied: options.proxies > 0 }
  const unauthenticated = limitConnections(http, strangersLimit)
  emit({ kind: 'server', http })
  const io = openSocket(http, feed, {
    ...services,
    mayConnect: byPerson,
    mayOpen: (request) => mayOpenSocket(request, options),
    known,
    socketsOfPerson,
    strangers: limitStrangers(strangersLimit),
    onPresence: presence.changed,
  })
  const previews = servePreviews(http, { names, passes: previewing?.passes ?? null, services, known })
  const connections = new Set<Connection>()
  http.on('connection', (connection) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })
  const port = await listen(http, options)
  return {
    port,
    async stop() {
      presence.stop()
      previews.close()
      io.disconnectSockets(true)
      const closed = new Promise<void>((resolve) => void io.close(() => resolve()))
      // Destroys the connections of clients that do not respond, since such a client never confirms that its socket is closed.
      const hurry = setTimeout(() => connections.forEach((connection) => connection.destroy()), drainMs)
      http.closeIdleConnections()
      await closed
      clearTimeout(hurry)
      await feed.stop()
    },
  }
}

interface AppParts {
  readonly byPerson: Rate
  /** The calls of the API that the gateway answers itself. */
  readonly ownRoutes: readonly Route<GatewayServices>[]
  /** Called for each request below `/api` with a valid bearer token. */
  readonly onSignedIn: (connection: Connection) => void
}

/** All middleware for HTTP, from the outermost to the innermost. */
function createApp(
  options: GatewayOptions,
  services: GatewayServices,
  { byPerson, ownRoutes, onSignedIn }: AppParts,
): Koa {
  const mounting = { fresh: () => services.ids.uuid(), idempotency: services.idempotency }
  const app = new Koa()
  app.silent = true
  app.proxy = options.proxies > 0
  const { logger, emit } = services
  const bodies = createBodies()
  app.use(requests({ serverKind: 'gateway', logger, fresh: mounting.fresh, emit }))
  app.use(faultResponses(logger, mounting.fresh))
  app.use(securityHeaders(options.pictureOrigins, (context) => formTargetOf(context, options, services)))
  app.use(trustProxies(options.proxies))
  // Comes before host names are checked, because probes use any name of the service.
  app.use(health(options.parts, options.details))
  app.use(refuseForeignHosts(options))
  app.use(refuseDisguisedApiPaths)
  // Comes before the limits of the API, because webhooks have their own limits; their route reads the body itself.
  app.use(githubWebhooks(options.webhookSecrets, { ...services, bodies }))
  app.use(inApi(refuseUndecodable))
  app.use(inApi(noStore))
  app.use(inApi(timeLimit(requestMs)))
  app.use(inApi(spreadBursts(begunAtOnce)))
  const byAddress = options.requestsAMinute === null ? null : options.requestsAMinute * addressesMayBeShared
  app.use(inApi(limitAddresses(rate(byAddress))))
  app.use(inApi(authenticate(services)))
  app.use((context, next) => {
    if (context.state.identity) onSignedIn(context.socket)
    return next()
  })
  app.use(inApi(limitPeople(byPerson)))
  app.use(inApi(onlyJson(({ path }) => path === '/api/upload/image')))
  app.use(inApi(readJson(bodies)))
  app.use(signInRoutes(options, services))
  app.use(setupCallback(services))
  app.use(imageRoutes(services, bodies))
  app.use(mount('/api', ownRoutes, services, mounting))
  app.use(reference())
  app.use(options.command)
  app.use(options.query)
  app.use(inApi(refuseUnknownCall))
  app.use(verifierDownload(options.verifierFile))
  app.use(client(options.webFolder))
  return app
}

/** The calls that the gateway answers itself, except the calls for images and previews. */
function routesOf(options: GatewayOptions): readonly Route<GatewayServices>[] {
  return [
    ...passwordRoutes(options, { passwords: passwords(), slow: loginThrottle() }),
    ...linkRoutes(options),
    ...setupRoutes(options),
    ...noticeRoutes(options.notices),
    ...agentRoutes(options.agents),
    ...pageViewRoutes(),
  ]
}

/** The origin to which the page that creates the App posts a form; `null` for other pages, which post to no other origin. */
function formTargetOf(
  context: Context,
  options: GatewayOptions,
  { codeHostApps }: GatewayServices,
): string | null {
  if (context.path.replace(/\/$/, '') !== setupPath) return null
  const origin = originOf(context, options)
  return new URL(codeHostApps.newAppUrl({ origin, state: '', organization: null })).origin
}

const refuseUnknownCall: Middleware = () => {
  throw new Fault('not_found', 'There is no such call.')
}

/** Limits a middleware to paths of the API. */
function inApi(middleware: Middleware): Middleware {
  return (context, next) => (isBelowApi(context.path) ? middleware(context, next) : next())
}

const noStore: Middleware = (context, next) => {
  context.set('cache-control', 'no-store')
  return next()
}

const noticeRoutes = (notices: GatewayOptions['notices']): readonly Route<GatewayServices>[] => [
  route(getNotices, signedIn, fresh, async ({ user }, services) => ({
    notices: [...((await isKeyRefusedFor(user, services)) ? [keyRefused] : []), ...notices()],
  })),
]

const keyRefused =
  "GitHub refuses the private key of Flightdeck's App: tasks can neither fetch nor push until it has a new one. Settings, GitHub Rights says how."
/** How long a page waits for its notices. A notice that takes longer is shown the next time. */
const requestTimeoutMs = 1_000

/** Whether to show an administrator that the code host refuses the App's key. */
async function isKeyRefusedFor(
  user: Person['user'],
  { accessControl, installations }: GatewayServices,
): Promise<boolean> {
  return (
    (await accessControl.isAdmin(user)) && withinOr(requestTimeoutMs, installations.isKeyRefused(), false)
  )
}

const mostProjects = 100

async function ownProjects(
  documents: GatewayServices['documents'],
  owner: string,
): Promise<readonly string[]> {
  const pages = pagesOf(documents, projectsView, { where: { owner }, limit: mostProjects })
  for await (const page of pages) return page.map(({ id }) => id)
  return []
}

const agentRoutes = (agents: GatewayOptions['agents']): readonly Route<GatewayServices>[] => [
  route(getAgents, signedIn, fresh, async ({ user, query }, { documents, modelKeys }) => {
    const { project: projectId = '' } = query
    if (projectId !== '' && (await documents.get(projectsView, projectId))?.owner !== user.id)
      throw new Fault('not_found', 'There is no such project.')
    // Without a project, an agent is available if it can run in any of the person's projects, of which at most `mostProjects` are checked. When a
    // task is created, the task's own project decides.
    const own = projectId === '' ? await ownProjects(documents, user.id) : [projectId]
    const shown = async (agent: AgentState): Promise<AgentState> => {
      if (agent.ownKey === undefined || agent.missing === null) return agent
      for (const id of ['', ...own]) {
        const state = await agentFor(agent, { ownerId: user.id, projectId: id }, modelKeys)
        if (state.missing === null) return state
      }
      return agent
    }
    return { agents: await Promise.all((await agents()).map(shown)) }
  }),
]

/** The maximum number of page views per minute from one address. No reader views more pages. */
const viewsAMinute = 240

/** Counts page views by route. Nothing else is recorded, in particular no person. */
function pageViewRoutes(): readonly Route<GatewayServices>[] {
  const allowed = rate(viewsAMinute)
  const seldomEnough = async ({ client }: { readonly client: { readonly ip: string } }) => {
    await allowed(networkOf(client.ip))
    return {}
  }
  return [
    route(countPageView, seldomEnough, async ({ body }, { emit }) => {
      // Maps unknown routes to a known route, so that clients cannot create labels of metrics.
      emit({ kind: 'page_viewed', route: pageRouteOf(body.route) })
      return { success: true as const }
    }),
  ]
}
