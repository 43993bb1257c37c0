/**
 * Sends the broker's requests to a real API of models: adds the key, and checks request bodies. Meters the answers and forwards them unchanged, but
 * masks a key in an error.
 */
import * as http from 'node:http'
import * as https from 'node:https'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { serialize } from '#platform/async/queue.ts'
import type { KeyUse } from '#platform/credentials/modelKeys.ts'
import { publicLookup } from '#platform/http/addressReach.ts'
import { endToEndHeaders } from '#platform/http/endToEndHeaders.ts'
import type { TextThreads } from '../redaction/textThreads.ts'
import { answerFault, faults, malformed, type ApiFault } from './apiFault.ts'
import { createMeter, totalTokens, type Meter, type ModelUsage } from './meter.ts'
import { checkBody, type Checked, type MayFetch, type ModelApi } from './modelApi.ts'
import { modelApis, type ModelApiName } from './apis.ts'
import type { Exchange, Upstream } from './upstream.ts'

export interface HttpOptions {
  readonly api: ModelApiName
  /** The base URL, such as `https://api.anthropic.com`. A path in it is kept. */
  readonly baseUrl: string
  readonly apiKey: string
  /** How the key is sent; `api_key` by default. */
  readonly use?: KeyUse
  /**
   * Whether a person or a project chose the address, other than a private one in numbers. The host name of such an address may lead only to public
   * addresses.
   */
  readonly isForeign?: boolean
  readonly connectTimeoutMs?: number
  /** How long the API may be silent before it counts as unavailable. */
  readonly idleTimeoutMs?: number
}

/** Forwards requests to the real API, over its own connections, which `close` ends. Long requests are checked in a thread. */
export function httpUpstream(options: HttpOptions, threads: Pick<TextThreads, 'run'>): Upstream {
  const { connectTimeoutMs = 30_000, idleTimeoutMs = 600_000 } = options
  const api = modelApis[options.api]
  const base = new URL(options.baseUrl)
  const transport = base.protocol === 'https:' ? https : http
  const agent = new transport.Agent({ keepAlive: true, maxFreeSockets: 4 })
  const prefix = base.pathname.replace(/\/+$/, '')
  const check = checking(options.api, threads)

  const answer = async (exchange: Exchange): Promise<void> => {
    const { request, response, served, onFault } = exchange
    const checked = await checkedBody(api, exchange, check)
    if (checked === undefined) return
    const passed = requestHeaders(api, request.headers, exchange)
    const outgoing = transport.request({
      agent,
      protocol: base.protocol,
      hostname: base.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: base.port,
      method: 'POST',
      path: `${prefix}${served.path}${served.query ?? queryOf(request)}`,
      headers: {
        ...passed,
        'content-type': 'application/json',
        host: base.host,
        ...api.credentials(options.apiKey, options.use, passed),
        'content-length': checked.body.length,
      },
      ...(options.isForeign === true && { lookup: publicLookup }),
    })
    /** The first reason why the exchange ended: later errors are only its consequences. */
    let verdict: ApiFault | 'client_left' | undefined
    const giveUp = (fault: ApiFault) => {
      verdict ??= fault
      outgoing.destroy(new Error(fault.code))
    }
    const stopClock = onConnected(outgoing, connectTimeoutMs, () => giveUp(faults.timedOut))
    outgoing.setTimeout(idleTimeoutMs, () => giveUp(faults.timedOut))
    const clientGone = () => {
      if (response.writableFinished) return
      verdict ??= 'client_left'
      outgoing.destroy()
    }
    response.once('close', clientGone)

    const incoming = answerOf(outgoing)
    outgoing.end(checked.body)
    let meter: Meter | undefined
    try {
      const answered = await incoming
      answered.once('error', () => {
        verdict ??= faults.brokeOff
      })
      const status = answered.statusCode ?? 502
      if (status >= 300 && status < 400) {
        giveUp(faults.redirected)
        throw new Error(`It answers ${status}.`)
      }
      if (status === 401 || status === 403) {
        onFault({ code: 'key_refused', message: `The model's API answers ${status} to the configured key.` })
      }
      if (status < 400) meter = createMeter(api, answered.headers['content-type'] ?? '')
      response.writeHead(status, answerHeaders(answered.headers, meter ? [] : ['content-length']))
      response.flushHeaders()
      await (meter
        ? passOn(answered, response, meter)
        : pipeline(answered, withoutKey(options.apiKey), response))
    } catch (error) {
      if (verdict !== 'client_left') {
        const { message } = error instanceof Error ? error : new Error(String(error))
        const fault = verdict ?? faults.unreachable
        onFault({ code: fault.code, message: `${fault.message} (${message})` })
        answerFault(api, response, fault)
      }
    } finally {
      stopClock()
      response.off('close', clientGone)
      if (!outgoing.destroyed && !response.writableFinished) outgoing.destroy()
      if (meter && served.isMetered) reportUsage(exchange, meter.total() ?? estimated(checked, meter))
    }
  }

  return { answer, close: () => agent.destroy() }
}

function reportUsage({ onUsage }: Exchange, used: ModelUsage): void {
  if (totalTokens(used) > 0) onUsage(used)
}

/** An estimate for an answer without usage, such as one that broke off. Otherwise an agent could evade its budget by leaving before the end. */
function estimated({ body, model = '' }: Forwarded, meter: Meter): ModelUsage {
  // An image has far fewer tokens than characters.
  const text = Buffer.from(body)
    .toString('utf8')
    .replaceAll(/"data:image\/[^"]*"|"data":"[^"]{1000,}"/g, '')
  return {
    model,
    inputTokens: Math.ceil(text.length / 4),
    outputTokens: meter.estimate(),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
}

type Check = (body: Buffer, may: MayFetch) => Promise<Checked>

/** The size up to which bodies are checked in the calling thread, which takes a few milliseconds. */
const shortBody = 64 * 1024

/** Checks long bodies of a run one at a time, so that the run occupies at most one thread. */
function checking(api: ModelApiName, threads: Pick<TextThreads, 'run'>): Check {
  const serialized = serialize()
  return async (body, { modelFetches }) => {
    if (body.length <= shortBody) return checkBody(modelApis[api], body, { modelFetches })
    return serialized(() => threads.run({ kind: 'fetches', api, body, modelFetches }))
  }
}

type Forwarded = Pick<Extract<Checked, { kind: 'fine' }>, 'body' | 'model'>

/** The body to forward, and its model; `undefined` when the request was refused, or its client has disconnected. */
async function checkedBody(api: ModelApi, exchange: Exchange, check: Check): Promise<Forwarded | undefined> {
  const { response, served, onFault } = exchange
  const checked = await check(exchange.body, exchange).catch((): Checked => unreadable)
  // If the client has disconnected, its request is incomplete and is not forwarded.
  if (response.destroyed) return undefined
  if (checked.kind === 'fine') {
    const model = served.model ?? checked.model
    exchange.onModel(model)
    return { body: checked.body, model }
  }
  const fault = malformed(checked.sentence, 'fetches')
  onFault(fault)
  answerFault(api, response, fault)
  return undefined
}

/** The refusal of a body that could not be inspected. */
const unreadable: Checked = {
  kind: 'refused',
  sentence: 'This request could not be inspected, so it was not forwarded.',
}

function answerOf(outgoing: http.ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
    outgoing.once('close', () => reject(new Error('The connection closed without an answer.')))
  })
}

/** Calls `late` when there is no connection after `ms`; the returned function stops the timer. */
function onConnected(outgoing: http.ClientRequest, ms: number, late: () => void): () => void {
  const timer = setTimeout(late, ms)
  const stop = () => clearTimeout(timer)
  outgoing.once('socket', (socket: Socket) => {
    if (socket.connecting) socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop)
    else stop()
  })
  return stop
}

/** Passes an answer on and meters it. Each chunk is metered in the tick after it was written, so that metering does not delay the agent. */
function passOn(answered: IncomingMessage, response: ServerResponse, meter: Meter): Promise<void> {
  const passed = pipeline(answered, response)
  answered.on('data', (chunk: Buffer) => process.nextTick(() => meter.read(chunk)))
  return passed
}

const longestError = 256 * 1024

/**
 * Masks the key in an error, because some APIs, such as Google's, quote it there. Forwards the error only once it is complete, cut after about 256
 * KiB.
 */
function withoutKey(apiKey: string): Transform {
  let held = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (held.length < longestError) held = Buffer.concat([held, chunk])
      done()
    },
    flush: (done) => done(null, held.toString('utf8').replaceAll(apiKey, '[key]')),
  })
}

function queryOf(request: IncomingMessage): string {
  const url = request.url ?? ''
  const query = url.indexOf('?')
  return query === -1 ? '' : url.slice(query)
}

/** The client's headers without its credentials. Asks for uncompressed answers, so that they can be metered unchanged. */
function requestHeaders(api: ModelApi, headers: IncomingHttpHeaders, may: MayFetch): OutgoingHttpHeaders {
  const kept = endToEndHeaders(headers, [
    'host',
    'cookie',
    'authorization',
    'x-api-key',
    'x-goog-api-key',
    'expect',
    'accept-encoding',
  ])
  return { ...api.passedHeaders(kept, may), 'accept-encoding': 'identity' }
}

function answerHeaders(headers: IncomingHttpHeaders, dropped: readonly string[]): OutgoingHttpHeaders {
  return endToEndHeaders(headers, ['set-cookie', 'set-cookie2', ...dropped])
}
