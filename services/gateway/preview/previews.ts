/**
 * Serves previews: requests and WebSockets whose host name stands for a port in a sandbox. They are passed on to the app at that port if a cookie
 * proves that the person may see it. The product is never served at the name of a preview, and an app is served at no other name.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket as Connection } from 'node:net'
import { pipeline, type Duplex } from 'node:stream'
import { Fault, faults } from '#domain/kernel/errors.ts'
import { html } from '#platform/http/html.ts'
import { AppFault, appRequests } from './appRequests.ts'
import {
  headersForApp,
  headersForBrowser,
  isFromElsewhere,
  passCookie,
  passCookiesIn,
} from './previewHeaders.ts'
import type { PreviewNames, PreviewPlace } from './previewNames.ts'
import { passSeconds, type PreviewPass, type PreviewPasses } from './previewPasses.ts'
import type { GatewayServices } from '../services.ts'

export const ticketPath = '/.flightdeck-preview'

interface PreviewOptions {
  readonly names: PreviewNames
  /** The passes that prove who may see a preview; `null` when this process has no sandboxes. */
  readonly passes: PreviewPasses | null
  readonly services: Pick<GatewayServices, 'sessions' | 'logger'>
  /** Called when a connection has shown that it belongs to a signed-in person. */
  readonly known: (connection: Connection) => void
  /** How long an app may take to answer, in milliseconds; a minute by default. */
  readonly responseMs?: number
  /** The time between two checks that people with open connections may still see the preview, in milliseconds. */
  readonly checkMs?: number
}

export interface Previews {
  close(): void
}

/** The maximum number of WebSockets to apps that one person may have open. */
const socketsOfPerson = 32

interface Open {
  readonly pass: PreviewPass
  readonly isSocket: boolean
  end(): void
}

interface Serving extends Omit<PreviewOptions, 'passes'> {
  readonly passes: PreviewPasses
  readonly apps: ReturnType<typeof appRequests>
  readonly open: Set<Open>
}

/** A request of a person who may see the preview. */
interface Admitted {
  readonly pass: PreviewPass
  readonly sandbox: Awaited<ReturnType<PreviewPasses['admit']>>
  readonly isOurBearer: boolean
  readonly ownOrigin: string
}

/**
 * Takes over those requests to the server whose host names a preview. Call this after all other listeners were added to the server, since a listener
 * that is added later would get the requests of previews too.
 */
export function servePreviews(
  http: Server,
  { passes, checkMs = 2_000, responseMs, ...options }: PreviewOptions,
): Previews {
  const { names } = options
  const serving = passes && { ...options, passes, apps: appRequests(responseMs), open: new Set<Open>() }
  const isPreview = ({ headers }: IncomingMessage) => names.isPreview(headers.host ?? '')
  divert(http, 'request', isPreview, (request: IncomingMessage, response: ServerResponse) => {
    void answer(serving, request, response)
  })
  divert(http, 'upgrade', isPreview, (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // An error without a listener would end the process.
    socket.on('error', () => socket.destroy())
    void upgrade(serving, request, socket, head).catch((fault: unknown) => {
      const { status } = refusalOf(fault, serving)
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
  })
  const timer = setInterval(() => serving && checkOpen(serving), checkMs).unref()
  return {
    close() {
      clearInterval(timer)
      for (const { end } of serving?.open ?? []) end()
      serving?.apps.close()
    },
  }
}

function divert<Rest extends unknown[]>(
  http: Server,
  event: 'request' | 'upgrade',
  isOurs: (request: IncomingMessage) => boolean,
  listener: (request: IncomingMessage, ...rest: Rest) => void,
): void {
  const others = http.listeners(event)
  http.removeAllListeners(event)
  http.on(event, (request: IncomingMessage, ...rest: Rest) => {
    if (isOurs(request)) listener(request, ...rest)
    else for (const other of others) Reflect.apply(other, http, [request, ...rest])
  })
}

/**
 * Ends the open connections of people who may no longer see the preview, or for whom this cannot be checked any more. Read models that are behind
 * deny nobody access.
 */
function checkOpen({ open, passes }: Serving): void {
  for (const { pass, end } of open)
    passes.admit(pass).catch((fault: unknown) => {
      if (fault instanceof Fault && fault.code !== 'views_behind') end()
    })
}

async function answer(
  serving: Serving | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (serving === null) throw new Fault('preview_unavailable')
    const place = placeOf(serving, request)
    const url = request.url ?? ''
    if (url.startsWith(`${ticketPath}?`)) await redeem(serving, place, request, response)
    else await passOn(serving, await admit(serving, place, request), request, response)
  } catch (fault) {
    refuse(fault, serving, response)
  }
}

function placeOf({ names }: Serving, { headers, url = '' }: IncomingMessage): PreviewPlace {
  const place = names.placeOf(headers.host ?? '')
  if (place === undefined) throw new Fault('not_found', 'There is no such preview.')
  if (!url.startsWith('/')) throw new Fault('invalid_input', 'The address is not valid.')
  return place
}

/** Exchanges the ticket in the address for a cookie, and redirects to the app's first page, so that the ticket leaves the address. */
async function redeem(
  { passes, names, known }: Serving,
  place: PreviewPlace,
  { method, url = '', headers, socket }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const ownOrigin = names.ownOrigin(headers.host ?? '')
  const ticket = new URL(url, ownOrigin).searchParams.get('ticket') ?? ''
  const pass = method === 'GET' ? await passes.redeem(ticket, place) : undefined
  if (pass === undefined) throw new Fault('sign_in_required', openAgain)
  await passes.admit(pass)
  known(socket)
  response.writeHead(303, {
    location: '/',
    'set-cookie': passCookie(ownOrigin, await passes.cookieOf(pass), passSeconds),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  })
  response.end()
}

const openAgain =
  'Open this preview again from the page of its task in Flightdeck. An address for it can be used once, within a minute.'

async function admit(
  { passes, names, services, known }: Serving,
  place: PreviewPlace,
  { headers, method = '', socket }: IncomingMessage,
): Promise<Admitted> {
  const ownOrigin = names.ownOrigin(headers.host ?? '')
  if (isFromElsewhere(headers, method, ownOrigin))
    throw new Fault('forbidden', 'Only the pages of this preview may request this.')
  const pass = await passes.read(passCookiesIn(headers.cookie, ownOrigin), place)
  if (pass === undefined) throw new Fault('sign_in_required', openAgain)
  const sandbox = await passes.admit(pass)
  known(socket)
  const [, bearer] = /^bearer +(\S+)/i.exec(headers.authorization ?? '') ?? []
  const isOurBearer = bearer !== undefined && (await services.sessions.verify(bearer)) !== undefined
  return { pass, sandbox, isOurBearer, ownOrigin }
}

async function passOn(
  serving: Serving,
  admitted: Admitted,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pass, sandbox, ownOrigin } = admitted
  const { method = '', url: path = '', headers } = request
  if (response.destroyed) return
  const left = new AbortController()
  response.once('close', () => left.abort())
  const outgoing = {
    method,
    path,
    headers: headersForApp(headers, { ...admitted, port: pass.port }),
    signal: left.signal,
  }
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  const answered = await serving.apps.send(sandbox, pass.port, outgoing, (sent) => {
    // `pipeline` fails when the app fails or when the browser has gone. Both are handled elsewhere.
    if (hasBody) pipeline(request, sent, () => undefined)
    else sent.end()
  })
  response.writeHead(
    answered.statusCode ?? 502,
    headersForBrowser(answered.headers, { port: pass.port, ownOrigin }),
  )
  follow(serving, { pass, isSocket: false, end: () => response.destroy() }, response)
  // If the app's answer breaks off, the answer to the browser must break off too.
  pipeline(answered, response, (fault) => fault && response.destroy())
}

async function upgrade(
  serving: Serving | null,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  if (serving === null) throw new Fault('preview_unavailable')
  const { headers, url: path = '', method = '' } = request
  const place = placeOf(serving, request)
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket')
    throw new Fault('invalid_input', 'Only WebSockets can be opened here.')
  const admitted = await admit(serving, place, request)
  const { pass, sandbox, ownOrigin } = admitted
  const { userId } = pass
  if (
    [...serving.open].filter((other) => other.isSocket && other.pass.userId === userId).length >=
    socketsOfPerson
  )
    throw new Fault('rate_limited', 'Too many WebSockets of previews are open.')
  const toApp = headersForApp(headers, { ...admitted, port: pass.port })
  const outgoing = { method, path, headers: { ...toApp, connection: 'Upgrade', upgrade: 'websocket' } }
  const upgraded = await serving.apps.upgrade(sandbox, pass.port, outgoing)
  const { response, connection } = upgraded
  if (connection === undefined) {
    response.destroy()
    throw new AppFault(502, 'The app refused the WebSocket.')
  }
  const toBrowser = headersForBrowser(response.headers, { port: pass.port, ownOrigin })
  const lines = Object.entries({ ...toBrowser, connection: 'Upgrade', upgrade: 'websocket' }).flatMap(
    ([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  )
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
  // A WebSocket has no time limit, since its two ends ping each other.
  request.socket.setTimeout(0)
  if (upgraded.head) socket.write(upgraded.head)
  connection.write(head)
  follow(serving, { pass, isSocket: true, end: () => socket.destroy() }, socket)
  pipeline(socket, connection, socket, () => {
    socket.destroy()
    connection.destroy()
  })
}

/** Makes `checkOpen` check this connection to the browser until it is closed. */
function follow({ open }: Serving, one: Open, connection: Duplex | ServerResponse): void {
  if (connection.destroyed) return
  open.add(one)
  connection.once('close', () => open.delete(one))
}

function refusalOf(
  fault: unknown,
  serving: Serving | null,
): { readonly status: number; readonly sentence: string } {
  if (fault instanceof Fault) return { status: faults[fault.code].status, sentence: fault.message }
  if (fault instanceof AppFault) return { status: fault.status, sentence: fault.message }
  serving?.services.logger.warn({ err: fault }, 'failed to serve a preview')
  return { status: 503, sentence: 'The preview cannot be shown now. Try again in a moment.' }
}

function refuse(fault: unknown, serving: Serving | null, response: ServerResponse): void {
  const { status, sentence } = refusalOf(fault, serving)
  if (response.headersSent) return void response.destroy()
  const page = html`<!doctype html>
    <html lang="en">
      <meta name="viewport" content="width=device-width" /><title>Preview</title>
      <p>${sentence}</p>
    </html>`
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    // On a connection that stays open, an unread rest of this request could be taken for the next request.
    connection: 'close',
  })
  response.end(page.html)
}
