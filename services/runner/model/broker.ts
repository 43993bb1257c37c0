/**
 * The key broker of one agent, through which the agent reaches its model. It accepts a token that is valid only for this broker, and replaces it with
 * the real key. So the agent never has a key.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { lstat, unlink } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { McpGateway } from '../mcp/gateway.ts'
import type { TextThreads } from '../redaction/textThreads.ts'
import { listenLocally, type LocalAddress } from '#platform/http/listen.ts'
import { now, type ModelCall } from '#platform/telemetry/telemetry.ts'
import { answerFault, budgetUsedUp, faults, malformed, notServed, type ApiFault } from './apiFault.ts'
import { anyAmount, type Budget } from './budget.ts'
import { modelApis, type ModelApiName } from './apis.ts'
import { httpUpstream, type HttpOptions } from './httpUpstream.ts'
import { servedBy, type ModelApi, type Served } from './modelApi.ts'
import type { ModelUsage } from './meter.ts'
import { scriptedUpstream } from './scriptedUpstream.ts'
import type { BrokerFault, Upstream } from './upstream.ts'

/** The model behind the broker: a real API with its key, or the built-in scripted model. */
export type Model =
  | ({ readonly kind: 'http' } & HttpOptions)
  | { readonly kind: 'scripted'; readonly api: ModelApiName; readonly pauseMs?: number }

export interface BrokerOptions {
  /**
   * Where the broker listens. Besides root, only the sandbox's user can connect to a socket. A port is for an agent that runs without a sandbox and
   * cannot use a socket.
   */
  readonly listen: LocalAddress
  readonly runToken: string
  readonly upstream: Model
  /** Answers requests for MCP servers, also between turns. */
  readonly mcp?: McpGateway
  /** Whether the broker also listens on loopback, in addition to its socket. */
  readonly onLoopbackToo?: boolean
  /** Threads that check long requests. */
  readonly threads: Pick<TextThreads, 'run'>
  /** Whether the model's service may fetch from the network when a request asks for it; no by default. */
  readonly modelFetches?: boolean
  /** The budget that applies until `admit` is first called; unlimited by default. */
  readonly budget?: Budget
  /** Called with the usage of each metered request that a model began to answer: as the answer reported it, or else an estimate. */
  readonly onUsage: (usage: ModelUsage) => void
  readonly onFault: (fault: BrokerFault) => void
  /** The size limit of a request in bytes: 32 MiB by default, like that of the model's API. */
  readonly bodyBytes?: number
  /** How many requests may run at once; 32 by default. Their bodies together may have four times `bodyBytes`. */
  readonly concurrency?: number
}

export interface Broker {
  /** The port on loopback; 0 when the broker only has a socket. */
  readonly port: number
  /**
   * Sets the budget of the turn that begins; `null` between two turns, when the model may not be used. `onCall` is called after each metered call of
   * that turn that was let through.
   */
  admit(budget: Budget | null, onCall?: OnCall): void
  /** Aborts running requests and removes the socket. */
  close(): Promise<void>
}

type OnCall = (call: ModelCall) => void

/** Starts a broker. Rejects when it cannot listen, for example because the path of its socket is too long. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { listen, onFault, concurrency = 32 } = options
  const upstream = upstreamOf(options)
  const { serve, admit } = admission({ ...options, concurrency }, upstream)
  const open = () =>
    createServer({ headersTimeout: 30_000, requestTimeout: 300_000 }, (request, response) => {
      // A disconnected client is not our fault; its half-sent request ends with the connection.
      request.on('error', () => undefined)
      response.on('error', () => undefined)
      serve(request, response).catch((error: unknown) => {
        onFault({ code: 'broke_off', message: error instanceof Error ? error.message : String(error) })
        response.destroy()
      })
    })
  if (listen !== 'loopback') await removeStale(listen.socketPath)
  const servers: Server[] = []
  const listenAt = async (address: LocalAddress) => {
    const server = open()
    server.maxConnections = concurrency * 2
    const port = await listenLocally(server, address)
    server.on('error', (error) => onFault({ code: 'broke_off', message: error.message }))
    servers.push(server)
    return port
  }
  const ownPort = await listenAt(listen)
  const port = options.onLoopbackToo === true && listen !== 'loopback' ? await listenAt('loopback') : ownPort
  return {
    port,
    admit,
    async close() {
      const closed = servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve())
            server.closeAllConnections()
          }),
      )
      upstream.close()
      options.mcp?.close()
      await Promise.all(closed)
    },
  }
}

/** Forwards a request to the upstream only if it has the token, belongs to the API, and is within the budget and the limits. */
function admission(
  options: BrokerOptions & { readonly concurrency: number },
  upstream: Upstream,
): Pick<Broker, 'admit'> & { serve(request: IncomingMessage, response: ServerResponse): Promise<void> } {
  const { onFault, concurrency, bodyBytes = 32 * 1024 * 1024, modelFetches = false } = options
  const api = modelApis[options.upstream.api]
  const knowsToken = tokenCheck(options.runToken)
  let budget: Budget | null = options.budget ?? anyAmount
  let onCall: OnCall | undefined
  let underWay = 0
  /** The number of bytes that the bodies of running requests may take up in memory. */
  let bodyBytesUnderWay = 0

  const refuse = async (request: IncomingMessage, response: ServerResponse, fault: ApiFault) => {
    onFault(fault)
    // A client that is cut off while it sends never reads the reason. So it may finish sending unless the body is too large.
    if (declaredBytes(request) <= bodyBytes) await drained(request)
    response.setHeader('connection', 'close')
    answerFault(api, response, fault)
  }
  return {
    admit(next, onNextCall) {
      budget = next
      onCall = onNextCall
    },
    async serve(request, response) {
      const served = servedPath(api, request)
      if (!knowsToken(request)) return refuse(request, response, faults.badToken)
      if (options.mcp?.isFor(request) === true) return options.mcp.serve(request, response)
      if (served === undefined) return refuse(request, response, notServed(api))
      const spending = budget
      const call = served.isMetered ? observedCall(response, onCall) : undefined
      if (spending === null) return refuse(request, response, faults.noTurn)
      const refusal = await spending.refusal()
      // If the client has disconnected, its request is incomplete and is not forwarded.
      if (response.destroyed) return
      if (refusal !== undefined)
        return refuse(request, response, refusal === budgetUsedUp ? faults.budget : faults.dayBudget)
      if (declaredBytes(request) > bodyBytes) return refuse(request, response, faults.tooLarge)
      if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
        return refuse(request, response, malformed('Send requests without a content encoding.'))
      // A body of unknown length counts as the largest allowed.
      const isDeclared = request.headers['transfer-encoding'] === undefined
      const bytes = isDeclared ? declaredBytes(request) : bodyBytes
      if (underWay >= concurrency || bodyBytesUnderWay + bytes > 4 * bodyBytes)
        return refuse(request, response, faults.tooMany)
      underWay += 1
      bodyBytesUnderWay += bytes
      const onUsage = (usage: ModelUsage) => {
        spending.spend(usage)
        options.onUsage(usage)
        call?.setUsage(usage)
      }
      const onModel = (model: string | undefined) => call?.setModel(model)
      try {
        const body = await readWhole(request, bodyBytes).catch((fault: unknown) => {
          if (!(fault instanceof BodyRefused)) return void response.destroy()
          onFault(fault.fault)
          answerFault(api, response, fault.fault)
        })
        if (body)
          await upstream.answer({ request, response, served, body, modelFetches, onFault, onModel, onUsage })
      } finally {
        underWay -= 1
        bodyBytesUnderWay -= bytes
        call?.over()
      }
    },
  }
}

function observedCall(response: ServerResponse, onCall: OnCall | undefined) {
  const begun = now()
  let requestModel: string | undefined
  let usage: ModelUsage | undefined
  return {
    setModel: (model: string | undefined) => void (requestModel = model),
    setUsage: (counted: ModelUsage) => void (usage = counted),
    over() {
      const status = response.writableEnded ? response.statusCode : 'broken_off'
      onCall?.({ requestModel, usage, status, begun, ended: now() })
    },
  }
}

function upstreamOf({ upstream: model, threads }: BrokerOptions): Upstream {
  switch (model.kind) {
    case 'http':
      return httpUpstream(model, threads)
    case 'scripted':
      return scriptedUpstream(modelApis[model.api], model.pauseMs)
  }
}

function declaredBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0)
}

/** Reads the rest of a refused request, until it ends or the client disconnects. */
async function drained(request: IncomingMessage): Promise<void> {
  request.resume()
  await finished(request, { writable: false }).catch(() => undefined)
}

const longestSocketPath = 107

/** Removes the socket at the path if a killed runner has left it. Throws if the path is too long for a socket. */
async function removeStale(socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) > longestSocketPath) {
    throw new Error(
      `The path of the broker's socket is longer than ${longestSocketPath} bytes: choose a shorter DATA_DIR.`,
    )
  }
  const there = await lstat(socketPath).catch(() => undefined)
  if (there?.isSocket() === true) await unlink(socketPath)
}

function servedPath(api: ModelApi, { method, url = '' }: IncomingMessage): Served | undefined {
  const [path = ''] = url.split('?', 1)
  return method === 'POST' ? servedBy(api, path) : undefined
}

/** Returns a check of a request's token, which compares in constant time. */
function tokenCheck(runToken: string): (request: IncomingMessage) => boolean {
  const digest = (token: string) => createHash('sha256').update(token).digest()
  const expected = digest(runToken)
  return ({ headers }) => {
    const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
    const given = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? bearer
    return typeof given === 'string' && timingSafeEqual(digest(given), expected)
  }
}

/** Thrown when a body exceeds a limit. The rest of the body was not read. */
class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly fault: ApiFault
  constructor(fault: ApiFault) {
    super(fault.message)
    this.fault = fault
  }
}

/**
 * The highest number of values in a body, far above that of any conversation. A parsed body takes many times its size in memory, and other requests
 * wait while it is parsed.
 */
const maxValues = 250_000

/** Reads a whole JSON body. Throws `BodyRefused` beyond `maxBytes` or 250,000 values, and fails when the client disconnects before its end. */
async function readWhole(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const count = valueCounter()
  for await (const chunk of body) {
    if (!(chunk instanceof Buffer)) throw new TypeError('A body is bytes.')
    bytes += chunk.length
    if (bytes > maxBytes) throw new BodyRefused(faults.tooLarge)
    if (count(chunk) > maxValues) throw new BodyRefused(faults.tooManyValues)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Returns a function that gets a JSON text piece by piece and returns about how many values it has had so far: it counts each `[`, `{` and `,`
 * outside of strings.
 */
function valueCounter(): (piece: Buffer) => number {
  let count = 0
  let isInString = false
  let isEscaped = false
  return (piece) => {
    // Reads by index, because an iterator takes several times as long.
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]
      if (!isInString) {
        if (byte === quote) isInString = true
        else if (byte === comma || byte === bracket || byte === brace) count += 1
      } else if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) isInString = false
    }
    return count
  }
}

const [quote, comma, bracket, brace, backslash] = Buffer.from('",[{\\')
