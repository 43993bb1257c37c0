/** The reverse proxy from the gateway to the services of the API: one for writes, one for reads. */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Context, Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import { endToEndHeaders } from '#platform/http/endToEndHeaders.ts'
import { calleeOf, serviceRealm, type Callee, type ServiceTokens } from '#platform/http/serviceToken.ts'
import type { Logger } from '#platform/log.ts'
import { passedOnAs, takeRoute } from '#platform/telemetry/requests.ts'

export interface Upstream {
  /** Forwards those requests below `/api` that the service answers, and lets other requests pass. */
  readonly middleware: Middleware
  /** Throws when the service does not answer its health check with 200 within two seconds. */
  ready(): Promise<void>
  close(): void
}

export interface UpstreamOptions {
  readonly service: Callee
  /** The address of the service, `http` or `https`. */
  readonly url: string
  /** How long the service may send nothing before its request fails, in ms; 30,000 by default. */
  readonly silenceMs?: number
}

const maxSilenceMs = 30_000
const connectMs = 5_000
const readyMs = 2_000
const pauseBeforeRetryMs = 100
const maxUnderWay = 1_000
const maxIdleConnections = 64
const idleMs = 30_000

/** Headers that are not forwarded, since they are for the gateway only. */
const notPassedOn = ['authorization', 'cookie', 'expect', 'host'] as const

/** There was no answer: no connection, a broken connection, or too long a silence. */
class NoAnswer extends Error {
  readonly kind: 'unreachable' | 'broken' | 'silent'
  constructor(kind: NoAnswer['kind'], cause?: unknown) {
    super(kind, { cause })
    this.kind = kind
  }
}

interface Proxy {
  readonly service: Callee
  readonly silenceMs: number
  readonly base: URL
  readonly isTls: boolean
  readonly agent: HttpAgent | HttpsAgent
  readonly open: typeof httpRequest
  readonly tokens: ServiceTokens
  readonly logger: Logger
  /** The number of requests that are still being answered. */
  underWay: number
}

/**
 * A proxy to one service. A service token tells the service who sent the request; the person's credentials are not forwarded. A read is tried a
 * second time when the connection fails, a write never. Answers 503 when the service cannot be reached, 504 when it is silent for `silenceMs`.
 */
export function upstream(
  options: UpstreamOptions,
  { tokens, logger }: { tokens: ServiceTokens; logger: Logger },
): Upstream {
  const { service, silenceMs = maxSilenceMs } = options
  const base = new URL(options.url)
  const isTls = base.protocol === 'https:'
  const pool = { keepAlive: true, maxFreeSockets: maxIdleConnections, timeout: idleMs }
  const agent = isTls ? new HttpsAgent(pool) : new HttpAgent(pool)
  const open = isTls ? httpsRequest : httpRequest
  const proxy: Proxy = { service, silenceMs, base, isTls, agent, open, tokens, logger, underWay: 0 }
  return {
    middleware: (context, next) => passOn(proxy, context, next),
    async ready() {
      const outgoing = { method: 'GET', path: '/healthz', headers: {}, silenceMs: readyMs }
      const answer = await send(proxy, outgoing, (request) => request.end(), AbortSignal.timeout(readyMs))
      answer.resume()
      if (answer.statusCode !== 200)
        throw new Error(`The ${service} service is not well: ${answer.statusCode}`)
    },
    close: () => agent.destroy(),
  }
}

/** Forwards a request and its answer, if the request is for this service. */
async function passOn(proxy: Proxy, context: Context, next: () => Promise<unknown>): Promise<unknown> {
  const { service, logger } = proxy
  if (calleeOf(context.method) !== service || !context.path.startsWith('/api/')) return next()
  if (proxy.underWay >= maxUnderWay)
    throw new Fault('engine_unavailable', 'The server is too busy. Try again in a moment.')
  // If the client has already disconnected, the `close` event that would decrease the count never comes.
  if (!context.writable) return undefined
  proxy.underWay += 1
  context.res.once('close', () => {
    proxy.underWay -= 1
  })
  let answer: IncomingMessage
  try {
    answer = await ask(proxy, context)
  } catch (fault) {
    if (!context.writable) return undefined
    logger.warn({ err: fault, service }, 'service did not respond')
    throw faultOf(proxy, fault, context.method)
  }
  if (answer.headers['www-authenticate']?.includes(serviceRealm)) {
    answer.resume()
    logger.error({ service }, 'a service refused the token: its MASTER_KEY or clock differs')
    throw new Fault('engine_unavailable')
  }
  passBack(context, answer)
  return undefined
}

/** Sends a request; `write` writes the body and ends the request. */
function send(
  proxy: Proxy,
  outgoing: { method: string; path: string; headers: Record<string, string | string[]>; silenceMs: number },
  write: (request: ClientRequest) => void,
  gone?: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method, headers } = outgoing
    const path = `${proxy.base.pathname.replace(/\/$/, '')}${outgoing.path}`
    const request = proxy.open({
      agent: proxy.agent,
      method,
      headers,
      hostname: proxy.base.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.base.port,
      path,
      timeout: outgoing.silenceMs,
      ...(gone === undefined ? {} : { signal: gone }),
    })
    let hasConnected = false
    const connecting = setTimeout(() => request.destroy(new NoAnswer('unreachable')), connectMs)
    const connected = () => {
      hasConnected = true
      clearTimeout(connecting)
    }
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once(proxy.isTls ? 'secureConnect' : 'connect', connected)
      else connected()
    })
    request.once('timeout', () => request.destroy(new NoAnswer('silent')))
    request.once('close', () => clearTimeout(connecting))
    // This listener stays when the answer has begun, since an 'error' without a listener would end the process. The answer's stream reports later
    // errors.
    request.on('error', (fault) =>
      reject(
        fault instanceof NoAnswer ? fault : new NoAnswer(hasConnected ? 'broken' : 'unreachable', fault),
      ),
    )
    request.once('response', resolve)
    write(request)
  })
}

async function ask(proxy: Proxy, context: Context): Promise<IncomingMessage> {
  const { method } = context
  const gone = new AbortController()
  context.res.once('close', () => gone.abort())
  const once = async () => {
    const headers = { ...passedOn(context.headers), ...passedOnAs(context) }
    // A read is forwarded without its body, so the service must not wait for one.
    if (isRead(method)) delete headers['content-length']
    headers['authorization'] =
      `Bearer ${await proxy.tokens.issue(proxy.service, context.state.identity ?? null)}`
    const outgoing = { method, path: `${context.path}${context.search}`, headers, silenceMs: proxy.silenceMs }
    return send(proxy, outgoing, (request) => writeBody(context, request), gone.signal)
  }
  try {
    return await once()
  } catch (fault) {
    const mayRepeat = fault instanceof NoAnswer && fault.kind !== 'silent' && isRead(method)
    if (!mayRepeat || gone.signal.aborted) throw fault
    await pause(pauseBeforeRetryMs)
    return once()
  }
}

/** The fault for a failed request. A read can be repeated; a write may have been carried out although its connection broke. */
function faultOf(proxy: Proxy, fault: unknown, method: string): unknown {
  if (!(fault instanceof NoAnswer)) return fault
  if (fault.kind === 'unreachable' || isRead(method)) {
    return fault.kind === 'silent'
      ? new Fault('timeout')
      : new Fault(
          'engine_unavailable',
          `The ${proxy.service} service is not responding. Try again in a moment.`,
        )
  }
  return new Fault(
    fault.kind === 'silent' ? 'timeout' : 'engine_unavailable',
    `The ${proxy.service} service stopped responding. Your request may have been carried out; check before you try again.`,
  )
}

const isRead = (method: string): boolean => calleeOf(method) === 'query'

/** Writes the body of a write: the text that a parser has already read, or else the incoming stream. A read is sent without a body. */
function writeBody(context: Context, request: ClientRequest): void {
  if (isRead(context.method)) {
    request.end()
    return
  }
  const { rawBody } = context.request
  if (typeof rawBody === 'string') {
    request.setHeader('content-length', Buffer.byteLength(rawBody))
    request.end(rawBody)
    return
  }
  // Nothing to do for errors: an error of `request` and a client that has disconnected are both handled elsewhere.
  pipeline(context.req, request, () => {})
}

function passBack(context: Context, answer: IncomingMessage): void {
  context.status = answer.statusCode ?? 502
  context.body = answer
  if (answer.headers['content-type'] === undefined) context.remove('content-type')
  const headers = passedOn(answer.headers)
  takeRoute(context, headers)
  for (const [name, value] of Object.entries(headers)) context.set(name, value)
}

/** Headers without those that belong to one connection or to the gateway. */
function passedOn(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(endToEndHeaders(headers, notPassedOn)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )
}
