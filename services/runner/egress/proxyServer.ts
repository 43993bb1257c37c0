/**
 * The way from a sandbox to the network: an HTTP proxy that reaches allowed hosts, by `CONNECT` or by plain requests to `http:` addresses. The proxy
 * resolves names itself, and connects to the very address that it checked.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { createServer, request as httpRequest } from 'node:http'
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  Server,
  ServerResponse,
} from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { limitConcurrency } from '#platform/async/queue.ts'
import { endToEndHeaders } from '#platform/http/endToEndHeaders.ts'
import { listenLocally, type LocalAddress } from '#platform/http/listen.ts'
import {
  gitDoorAt,
  hostAndPort,
  mayConnect,
  readByGit,
  rulesFor,
  type Rule,
} from '#platform/http/egressRules.ts'

export interface ProxyOptions {
  readonly listen: LocalAddress
  readonly rules: readonly Rule[]
  /** Called for every destination that is not reached, with the reason. The destination is text from the sandbox. */
  readonly onRefusal: (refusal: Refusal) => void
  /** Returns all addresses of a host, none if it does not exist; by default it asks the system. */
  readonly lookup?: (host: string) => Promise<readonly string[]>
  /** Connects to an address, by default over TCP. Resolves to `undefined` when that fails. */
  readonly dial?: (address: string, port: number) => Promise<Socket | undefined>
  /** The maximum number of connections from the sandbox at the same time, and of those to the network: 256 by default. */
  readonly connections?: number
  /** The time without a byte in either direction after which a connection ends: 10 minutes by default. */
  readonly idleMs?: number
  /**
   * How many refusals in a row are answered: 500 by default. Further refused tunnels end without an answer, because npm repeats its request for as
   * long as it gets answers.
   */
  readonly answeredRefusals?: number
}

export interface Refusal {
  /** The destination that the sandbox named, in at most 200 printable ASCII characters. */
  readonly destination: string
  /**
   * `not_allowed`: no rule allows the destination; `inside`: it has only addresses that may not be reached, such as those of the server's own
   * network; `only_git`: only git may read from it; `other_repository`: git may read from it, but not this repository; `unreachable`: it is allowed,
   * but does not exist or does not answer; `too_many`: the sandbox has as many connections as it may have.
   */
  readonly why: 'not_allowed' | 'inside' | 'only_git' | 'other_repository' | 'unreachable' | 'too_many'
}

export interface Traffic {
  readonly connections: number
  /** `sent` is the number of bytes to the network, `received` the number of bytes from it. */
  readonly sent: number
  readonly received: number
}

export interface Proxy {
  /** The port on the loopback; 0 when the proxy listens on a socket. */
  readonly port: number
  traffic(): Traffic
  /** Ends all connections. */
  close(): Promise<void>
}

const usualConnections = 256
const usualIdleMs = 600_000
const usualAnsweredRefusals = 500
const resolveTimeoutMs = 10_000
/** How long a look-up may take together with its wait for earlier ones, most of which are those of other sandboxes. */
const longestLookupMs = 40_000
/** How many look-ups of a sandbox run at once, or wait for those of other sandboxes, until they are out of time: even then, each goes on to its end. */
const lookupsAtOnce = 1
const connectTimeoutMs = 20_000
const headBytes = 16 * 1024
const longestDestination = 200

type Destination = { readonly host: string; readonly port: number }

class NotReached extends Error {
  readonly why: Refusal['why']
  constructor(why: Refusal['why'], sentence: string = sentences[why]) {
    super(sentence)
    this.why = why
  }
}

const sentences: Readonly<Record<Refusal['why'], string>> = {
  not_allowed: 'It is not among the hosts that this project may reach.',
  inside: "It leads into the server's own network, which a sandbox may not reach.",
  only_git: 'On the local code host, agents and commands can only clone and fetch.',
  other_repository: "It is neither this project's repository nor among those that its network settings list.",
  unreachable: 'It does not answer.',
  too_many: 'Too many connections are open.',
}

interface RunningProxy {
  readonly options: ProxyOptions
  readonly open: Set<Duplex>
  readonly traffic: { connections: number; sent: number; received: number }
  /** How many connections to the network are open or being made. */
  outgoing: number
  /** The look-ups that run or wait, by host. */
  readonly lookups: Map<string, Promise<readonly string[]>>
  readonly inTurn: ReturnType<typeof limitConcurrency>
  /** How many requests were refused since a destination was last reached. */
  refusedInRow: number
  /** The destination of each tunnel that ends in this proxy. */
  readonly destinations: WeakMap<Duplex, Destination>
  /** Serves the requests of tunnels that end in this proxy. */
  readonly tunnelled: Server
}

/** Starts a proxy; rejects when it cannot listen. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { idleMs = usualIdleMs, connections = usualConnections } = options
  const timed = { maxHeaderSize: headBytes, headersTimeout: 30_000, requestTimeout: 0 }
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    forward(proxy, request, response).catch(() => response.destroy())
  }
  const proxy: RunningProxy = {
    options,
    open: new Set(),
    traffic: { connections: 0, sent: 0, received: 0 },
    outgoing: 0,
    lookups: new Map(),
    inTurn: limitConcurrency(lookupsAtOnce, (waiting) => {
      if (waiting >= connections) throw new NotReached('too_many')
    }),
    refusedInRow: 0,
    destinations: new WeakMap(),
    tunnelled: createServer(timed, serve),
  }
  const server = createServer(timed, serve)
  server.maxConnections = connections
  server.on('connection', (client) => {
    keep(proxy, client)
    client.setTimeout(idleMs, () => client.destroy())
  })
  server.on('connect', (request, client, head) => {
    tunnel(proxy, request, client, head).catch(() => client.destroy())
  })
  const port = await listenLocally(server, options.listen)
  return {
    port,
    traffic: () => ({ ...proxy.traffic }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        proxy.tunnelled.closeAllConnections()
        for (const stream of proxy.open) stream.destroy()
      }),
  }
}

function keep<S extends Duplex>({ open }: RunningProxy, stream: S): S {
  open.add(stream)
  stream.once('close', () => open.delete(stream))
  // Either end may disconnect at any time. Without this handler, the stream's error would end the whole process.
  stream.on('error', () => stream.destroy())
  return stream
}

/** Connects to an allowed address of the destination. Throws `NotReached`. */
async function reach(proxy: RunningProxy, destination: Destination): Promise<Socket> {
  const { rules, connections = usualConnections } = proxy.options
  const matched = rulesFor(rules, destination.host, destination.port)
  if (matched.length === 0) throw new NotReached('not_allowed')
  // What is begun for a client goes on when the client leaves, so the limit on clients does not limit it.
  if (proxy.outgoing >= connections) throw new NotReached('too_many')
  proxy.outgoing += 1
  try {
    const socket = await reachBy(proxy, destination, matched)
    return socket.once('close', () => (proxy.outgoing -= 1))
  } catch (fault) {
    proxy.outgoing -= 1
    throw fault
  }
}

async function reachBy(
  proxy: RunningProxy,
  { host, port }: Destination,
  matched: readonly Rule[],
): Promise<Socket> {
  const { rules, dial = connected, idleMs = usualIdleMs } = proxy.options
  const addresses = isIP(host) === 0 ? await addressesOf(proxy, host) : [host]
  if (addresses.length === 0) throw new NotReached('unreachable', 'There is no such host.')
  const allowed = addresses.filter((address) => mayConnect(address, port, matched, rules))
  if (allowed.length === 0) throw new NotReached('inside')
  const socket = await firstOf(allowed, (address) => dial(address, port))
  if (!socket) throw new NotReached('unreachable')
  proxy.traffic.connections += 1
  proxy.refusedInRow = 0
  socket.setTimeout(idleMs, () => socket.destroy())
  return keep(proxy, socket)
}

/** The addresses of a host; none when it does not exist. Throws `NotReached` when they are not found in time. */
function addressesOf(
  { options: { lookup = allAddresses }, lookups, inTurn }: RunningProxy,
  host: string,
): Promise<readonly string[]> {
  const found = lookups.get(host) ?? inTurn(() => lookup(host)).finally(() => lookups.delete(host))
  lookups.set(host, found)
  return Promise.race([found, tooLate(longestLookupMs)])
}

async function tooLate(ms: number): Promise<never> {
  await delay(ms, undefined, { ref: false })
  throw new NotReached('unreachable', 'Its address was not found in time.')
}

/** Reports a refusal, and returns the sentence for the sandbox. */
function refused(proxy: RunningProxy, fault: unknown, destination: string): string {
  const why = fault instanceof NotReached ? fault.why : 'unreachable'
  proxy.refusedInRow += 1
  proxy.options.onRefusal({ destination: printable(destination), why })
  return `${printable(destination)} is not reached. ${fault instanceof NotReached ? fault.message : ''}\n`
}

function countTraffic({ traffic }: RunningProxy, upstream: Socket): void {
  traffic.sent += upstream.bytesWritten
  traffic.received += upstream.bytesRead
}

async function tunnel(
  proxy: RunningProxy,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  const target = request.url ?? ''
  const { host, port } = hostAndPort(target)
  const destination = { host, port: port ?? 0 }
  if (gitDoorAt(proxy.options.rules, host, destination.port) !== undefined) {
    // The proxy cannot inspect a tunnel that it merely passes on. So it ends this tunnel itself, and checks the requests in it like any other.
    client.write(established)
    if (head.length > 0) client.unshift(head)
    proxy.destinations.set(client, destination)
    proxy.tunnelled.emit('connection', client)
    return
  }
  let upstream: Socket
  try {
    upstream = await reach(proxy, destination)
  } catch (fault) {
    const sentence = refused(proxy, fault, target)
    const { answeredRefusals = usualAnsweredRefusals } = proxy.options
    if (proxy.refusedInRow > answeredRefusals) return void client.end()
    return void client.end(
      `HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(sentence)}\r\nconnection: close\r\n\r\n${sentence}`,
    )
  }
  if (client.destroyed) return void upstream.destroy()
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => {
    countTraffic(proxy, upstream)
    client.destroy()
  })
  client.write(established)
  if (head.length > 0) upstream.write(head)
  client.pipe(upstream)
  upstream.pipe(client)
}

async function forward(
  proxy: RunningProxy,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const through = proxy.destinations.get(request.socket)
  const address = through === undefined ? (request.url ?? '') : addressIn(through, request.url ?? '')
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:') return answer(response, 400, 'A request names a whole http address.\n')
  const named = hostAndPort(url.host)
  const destination = { host: named.host, port: named.port ?? 80 }
  const readable = gitDoorAt(proxy.options.rules, destination.host, destination.port)
  const repository = readable && readByGit(request.method ?? '', url)
  const isOther = repository !== undefined && !readable?.includes(repository)
  let upstream: Socket
  try {
    if (readable && repository === undefined) throw new NotReached('only_git')
    if (isOther) throw new NotReached('other_repository')
    upstream = await reach(proxy, destination)
  } catch (fault) {
    return answer(response, 403, refused(proxy, fault, isOther ? `${url.host}/${repository}` : url.host))
  }
  if (request.socket.destroyed) return void upstream.destroy()
  upstream.once('close', () => countTraffic(proxy, upstream))
  passOn(request, response, { url, upstream, dropped: readable ? credentials : [] })
}

/** Sends `request` to its destination without the headers in `dropped`, and passes the answer on to `response`. */
function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { url, upstream, dropped }: { url: URL; upstream: Socket; dropped: readonly string[] },
): void {
  const onward = httpRequest({
    createConnection: () => upstream,
    method: request.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    headers: {
      ...endToEndHeaders(request.headers, dropped),
      ...framing(request.headers),
      host: url.host,
      connection: 'close',
    },
  })
  response.once('close', () => onward.destroy())
  onward.on('error', () => {
    if (response.headersSent) response.destroy()
    else answer(response, 502, 'It broke off.\n')
  })
  onward.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, endToEndHeaders(incoming.headers))
    incoming.on('error', () => response.destroy())
    incoming.pipe(response)
  })
  request.pipe(onward)
}

/** Makes a look-up for several sandboxes, which take turns. It throws `NotReached` when `lookup` takes longer than `timeoutMs`, but keeps its turn. */
export function oneAtOnce(
  lookup: (host: string) => Promise<readonly string[]>,
  timeoutMs: number = resolveTimeoutMs,
): (host: string) => Promise<readonly string[]> {
  const inTurn = limitConcurrency(1)
  return (host) =>
    new Promise((resolve, reject) => {
      inTurn(() => {
        const found = lookup(host)
        Promise.race([found, tooLate(timeoutMs)]).then(resolve, reject)
        return found
      }).catch(reject)
    })
}

// This process has two threads for look-ups. One of them stays free for its own, however slow the names are that sandboxes choose.
const allAddresses = oneAtOnce((host) =>
  systemLookup(host, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  ),
)

/** A connection to the first address that accepts a connection; `undefined` when no address does. */
async function firstOf(
  addresses: readonly string[],
  dial: (address: string) => Promise<Socket | undefined>,
): Promise<Socket | undefined> {
  for (const address of addresses) {
    const socket = await dial(address)
    if (socket) return socket
  }
  return undefined
}

function connected(address: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, allowHalfOpen: true })
    const fail = () => {
      socket.destroy()
      resolve(undefined)
    }
    socket.setTimeout(connectTimeoutMs, fail)
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.removeListener('timeout', fail)
      socket.removeListener('error', fail)
      resolve(socket)
    })
  })
}

/** The headers that are not sent to the local code host, where a sandbox is anonymous. */
const credentials = ['authorization', 'cookie'] as const

const established = 'HTTP/1.1 200 Connection established\r\n\r\n'

/** The URL of a request within a tunnel, made from `path`; empty when `path` does not begin with a slash. */
function addressIn({ host, port }: Destination, path: string): string {
  if (!path.startsWith('/')) return ''
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}${path}`
}

/**
 * The headers that mark the end of a request's body. They are sent even if `connection` names them: without them, the destination could take the body
 * for another request.
 */
function framing(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' }
  const length = headers['content-length']
  return length === undefined ? {} : { 'content-length': length }
}

function answer(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(sentence)
}

/** The sandbox's text in a form that is safe to show to a person. */
function printable(destination: string): string {
  return destination.replace(/[^\x21-\x7e]/g, '?').slice(0, longestDestination)
}
