/** Creates request ids. Each request is logged in one line, and emitted as an observation when it is over. */
import type { Context, Middleware } from 'koa'
import type { Origin } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import { now, type RequestAnswered, type Emit } from './telemetry.ts'

const slowMs = 1_000
const requestHeader = 'x-request-id'
/** The header in which a service tells its gateway the route of a request, because only the service knows it. */
const routeHeader = 'x-flightdeck-route'
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Makes the middleware, which must be the first. It gives each request a new id; `adoptRequest` later replaces it with the id that another service
 * sent. A `service` also tells its caller the route.
 */
export function requests({
  serverKind,
  logger,
  fresh,
  emit,
}: {
  readonly serverKind: 'gateway' | 'service'
  readonly logger: Logger
  readonly fresh: () => string
  readonly emit: Emit
}): Middleware {
  return async (context, next) => {
    const begun = now()
    nameRequest(context, fresh())
    const { socket } = context
    const sent = socket.bytesWritten
    context.res.once('close', () => {
      const answered = answeredOf(context, begun)
      emit(answered)
      logLine(logger, context, answered, socket.bytesWritten - sent)
    })
    await next()
    if (serverKind === 'service') context.set(routeHeader, routeOf(context))
  }
}

/** The id of a request. Everything that the request causes carries it. */
export function requestIdOf(context: Pick<Context, 'state'>): string | undefined {
  const id: unknown = context.state.requestId
  return typeof id === 'string' ? id : undefined
}

/** The origin of everything that the request causes, for code that is not a route. */
export function originOfRequest(context: Pick<Context, 'state'>): Origin {
  const correlationId = requestIdOf(context)
  return correlationId === undefined ? {} : { correlationId }
}

/** Takes over the request id that another service sent. Must be called only after that service's token was verified. */
export function adoptRequest(context: Context): void {
  const named = context.get(requestHeader)
  if (uuid.test(named)) nameRequest(context, named)
}

/** The headers that pass the request's id on to another service. */
export function passedOnAs(context: Context): Record<string, string> {
  const requestId = requestIdOf(context)
  return requestId === undefined ? {} : { [requestHeader]: requestId }
}

/** Moves the route that a service has added to its answer from the headers to the context. */
export function takeRoute(context: Context, headers: Record<string, string | string[]>): void {
  const route = headers[routeHeader]
  delete headers[routeHeader]
  if (typeof route === 'string') context.state.route = route
}

export function nameRequest(context: Context, requestId: string): void {
  context.state.requestId = requestId
  context.set(requestHeader, requestId)
}

/**
 * The route's pattern, which handlers without a router may have set in `state.route`. If there is none: the path of a health check, `unknown` for any
 * other path of the API, `client` for the rest.
 */
export function routeOf(context: Context): string {
  const told: unknown = context.state.route ?? Reflect.get(context, '_matchedRoute')
  if (typeof told === 'string') return told.replace(/(.)\/$/, '$1')
  if (isHealth(context.path)) return context.path
  return context.path === '/api' || context.path.startsWith('/api/') ? 'unknown' : 'client'
}

function answeredOf(context: Context, begun: number): RequestAnswered {
  return {
    kind: 'request',
    requestId: requestIdOf(context) ?? '',
    method: context.method,
    route: routeOf(context),
    status: context.res.writableFinished ? context.res.statusCode : 'gone',
    begun,
    ended: now(),
  }
}

function logLine(logger: Logger, context: Context, answered: RequestAnswered, bytes: number): void {
  const { requestId, method, route, status, begun, ended } = answered
  const ms = Math.round((ended - begun) * 10) / 10
  const userId: unknown = context.state.identity?.userId
  logger[levelOf(answered)](
    { requestId, method, route, status, ms, bytes, ...(typeof userId === 'string' && { userId }) },
    'request',
  )
}

function levelOf({ route, status, begun, ended }: RequestAnswered): 'debug' | 'info' | 'warn' {
  if (typeof status === 'number' && (status >= 500 || ended - begun > slowMs)) return 'warn'
  // Orchestrators request the health checks every few seconds, and would fill a log that shows them.
  return isHealth(route) ? 'debug' : 'info'
}

const isHealth = (path: string): boolean => path === '/healthz' || path === '/readyz'
