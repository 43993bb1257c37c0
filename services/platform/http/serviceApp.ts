/** The HTTP server of services that run in a process without a gateway: their routes, which require a service token, and health checks. */
import { createServer } from 'node:http'
import { drain, listen } from './listen.ts'
import Koa, { type Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import type { Logger } from '#platform/log.ts'
import type { Ids } from '#platform/ports/ids.ts'
import { adoptRequest, requests } from '#platform/telemetry/requests.ts'
import type { Emit } from '#platform/telemetry/telemetry.ts'
import { faultResponses } from './faultResponses.ts'
import { createBodies, readJson } from './bodies.ts'
import { health, type Details, type Parts } from './health.ts'
import { timeLimit } from './timeLimit.ts'
import { calleeOf, serviceRealm, type Callee, type ServiceTokens } from './serviceToken.ts'

export interface RunningService {
  readonly port: number
  /** Stops accepting requests, and waits up to 5 seconds for running ones. */
  stop(): Promise<void>
}

const requestMs = 30_000
const drainMs = 5_000
const sweepMs = 50
// This is longer than callers keep idle connections, so that callers close them first, and none is closed while a request is being sent.
const keepAliveMs = 65_000

/**
 * Starts the server and resolves when it listens. Throws when the port is in use. `apis` are the routes below `/api` of the services in this process,
 * if any.
 */
export async function startServiceApp(
  options: {
    apis: ReadonlyMap<Callee, Middleware>
    host: string
    port: number
    parts: Parts
    details?: Details
  },
  services: { tokens: ServiceTokens; logger: Logger; ids: Ids; emit: Emit },
): Promise<RunningService> {
  const app = new Koa()
  app.silent = true
  const { logger, emit } = services
  const fresh = () => services.ids.uuid()
  app.use(requests({ serverKind: 'service', logger, fresh, emit }))
  app.use(faultResponses(logger, fresh))
  app.use(health(options.parts, options.details))
  app.use(timeLimit(requestMs))
  app.use(callersOnly(options.apis, services.tokens))
  app.use(readJson(createBodies()))
  for (const api of options.apis.values()) app.use(api)
  app.use(() => {
    throw new Fault('not_found', 'There is no such call.')
  })
  const http = createServer(
    { requestTimeout: requestMs, headersTimeout: 10_000, keepAliveTimeout: keepAliveMs },
    app.callback(),
  )
  emit({ kind: 'server', http })
  const port = await listen(http, options)
  return { port, stop: () => drain(http, { drainMs, sweepMs }) }
}

/** Lets only requests with a token for the called service pass, and uses the identity in that token. */
function callersOnly(apis: ReadonlyMap<Callee, Middleware>, tokens: ServiceTokens): Middleware {
  return async (context, next) => {
    const callee = calleeOf(context.method)
    if (callee === undefined || !apis.has(callee)) throw new Fault('not_found', 'There is no such call.')
    const [scheme, token] = context.get('authorization').split(' ')
    const serviceToken = scheme?.toLowerCase() === 'bearer' && token !== undefined ? token : ''
    const verified = await tokens.verify(callee, serviceToken)
    if (verified === undefined) {
      context.set('www-authenticate', `Bearer realm="${serviceRealm}"`)
      throw new Fault('sign_in_required', 'Only other Flightdeck services can call this.')
    }
    context.state.identity = verified.identity
    adoptRequest(context)
    await next()
  }
}
