/** Previews of apps that listen on this machine in place of a sandbox: who is let in, and what passes in either direction. */
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type ServerOptions } from 'node:http'
import {
  connect as connectTo,
  createServer as createTcp,
  type AddressInfo,
  type Server as TcpServer,
} from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { userStream } from '#domain/kernel/streams.ts'
import { UserRegistered } from '#domain/user/events.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import type { RunningSandbox } from '#platform/ports/listeningPorts.ts'
import { taskId, userId } from '../../../tests/domain/ids.ts'
import {
  cause,
  eventually,
  openAccess,
  openTestEngines,
  type TestEngines,
} from '../../../tests/server/engines.ts'
import { previewNames } from './previewNames.ts'
import { previewPasses, type PreviewPass, type PreviewPasses } from './previewPasses.ts'
import { servePreviews, ticketPath } from './previews.ts'

let engines: TestEngines
let passes: PreviewPasses
let now: number
let ended: string[]
let expiresAt: string
/** The sandboxes that run. */
let running: RunningSandbox[]
let closing: (() => unknown)[]
let patient: Awaited<ReturnType<typeof serve>>
/** A server with short time limits for apps and for clients. */
let impatient: typeof patient

const owner = { userId: userId(1), sessionId: 'session-1' }
const names = previewNames({ publicUrl: null, previewHost: null })
const put = (collection: string, document: { id: string }) =>
  ({ kind: 'put', collection, document, position: '1' }) as const
const write = (...documents: ReturnType<typeof put>[]) =>
  engines.readStore.apply(documents, { projection: 'test', position: String((position += 1)) })
let position = 0
const person = () => ({
  id: userId(1),
  onboardingCompleted: true,
  sessions: [{ id: owner.sessionId, expiresAt }],
  endedSessions: ended.map((sessionId) => ({ sessionId })),
})

beforeAll(async () => {
  engines = await openTestEngines()
  const tasks = [1, 2].map((n) => ({ id: taskId(n), owner: userId(1) }))
  await write(...tasks.map((task) => put('tasks', task)))
  const services = {
    ...engines,
    accessControl: openAccess,
    ids: { uuid: randomUUID },
    clock: { now: () => new Date(now) },
  }
  passes = previewPasses(services, { of: () => running })
  const sessions = {
    verify: async (token: string) => (token === 'ours' ? { ...owner, endsAt: Infinity } : undefined),
    token: () => Promise.reject(new Error('unused')),
    begin: () => ({ sessionId: '', startsAt: '', expiresAt: '', client: null }),
  }
  const given = { names, passes, services: { sessions, logger: engines.logger }, known: () => undefined }
  patient = await serve({}, { ...given, checkMs: 50 })
  impatient = await serve(
    { connectionsCheckingInterval: 50, headersTimeout: 300 },
    { ...given, responseMs: 100 },
  )
})
afterAll(async () => {
  for (const { close } of [patient, impatient]) close()
  await engines.close()
})

/** Starts a server of previews, which answers all other host names with 'the product'. */
async function serve(
  options: ServerOptions,
  given: Parameters<typeof servePreviews>[1],
): Promise<{ readonly port: number; close(): void }> {
  const http = createServer(options, (_, response) => response.end('the product'))
  const previews = servePreviews(http, given)
  const { port } = await listening(http)
  return {
    port,
    close() {
      previews.close()
      http.closeAllConnections()
      http.close()
    },
  }
}
beforeEach(async () => {
  ended = []
  closing = []
  now = Date.now()
  expiresAt = new Date(now + 7 * 86_400_000).toISOString()
  running = [sandbox('sandbox-1')]
  await write(put('users', person()))
})
afterEach(() => {
  for (const close of closing) close()
})

async function listening(server: TcpServer): Promise<AddressInfo> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return address
}

/** A sandbox whose loopback is that of this machine. Like a real sandbox, it gives connections that are streams and not sockets. */
function sandbox(id: string): RunningSandbox {
  return {
    id,
    ports: async () => [],
    async connect(port) {
      const socket = connectTo(port, '127.0.0.1')
      await once(socket, 'connect').catch(() => undefined)
      if (socket.destroyed) return undefined
      const connection = Duplex.from({ readable: socket, writable: socket })
      closing.push(() => connection.destroy())
      return connection
    },
  }
}

/** Starts an app that answers requests. Returns its port. */
async function app(answer: Parameters<typeof createServer>[1]): Promise<number> {
  const server = createServer(answer)
  closing.push(() => (server.closeAllConnections(), server.close()))
  return (await listening(server)).port
}
/** Starts an app that sends `words` on every connection. Returns its port. */
async function saying(words: string): Promise<number> {
  const server = createTcp((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(words))
  })
  closing.push(() => server.close())
  return (await listening(server)).port
}

const passFor = (port: number, more: Partial<PreviewPass> = {}): PreviewPass => ({
  ...owner,
  taskId: taskId(1),
  port,
  sandboxId: 'sandbox-1',
  ...more,
})
const hostOf = (port: number, task = taskId(1)) => `${task}-${port}.localhost:${patient.port}`
const cookieOf = async (pass: PreviewPass) => `flightdeck_preview=${await passes.cookieOf(pass)}`

interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
function get(
  host: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body = '',
  at = patient,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      port: at.port,
      host: '127.0.0.1',
      path,
      method,
      agent: false,
      headers: { ...headers, host },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      text(response).then(
        (said) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: said }),
        reject,
      )
    })
    sent.end(body)
  })
}
/** Sends these bytes. Returns all that the server answers until it closes the connection. */
async function raw(words: string, at = patient): Promise<string> {
  const socket = connectTo(at.port, '127.0.0.1')
  socket.write(words)
  return text(socket)
}
async function socketTo(port: number, headers: Record<string, string>): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${patient.port}/live`, {
    headers: { host: hostOf(port), ...headers },
  })
  closing.push(() => socket.terminate())
  socket.on('error', () => undefined)
  return socket
}
async function sockets(): Promise<number> {
  const server = createServer()
  const wss = new WebSocketServer({ server })
  wss.on('connection', (socket) => socket.on('message', (said) => socket.send(`heard ${String(said)}`)))
  closing.push(() => (wss.close(), server.closeAllConnections(), server.close()))
  return (await listening(server)).port
}

describe('who is let in', () => {
  // Attacks preview: a ticket is used a second time.
  test('opens a ticket once, and has a cookie from then on', async () => {
    const port = await app((_, response) => response.end('hello'))
    const ticket = await passes.ticketFor(passFor(port))
    const address = `${ticketPath}?ticket=${ticket}`
    const opened = await get(hostOf(port), address)
    expect(opened).toMatchObject({
      status: 303,
      headers: { location: '/', 'referrer-policy': 'no-referrer' },
    })
    const [cookie = ''] = opened.headers['set-cookie'] ?? []
    expect(cookie).toMatch(/^flightdeck_preview=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
    expect(cookie).not.toContain(ticket)
    const kept = { cookie: cookie.split(';')[0] ?? '' }
    expect(await get(hostOf(port), '/', kept)).toMatchObject({ status: 200, body: 'hello' })
    expect(await get(hostOf(port), address)).toMatchObject({ status: 401 })
    expect((await get(hostOf(port), address)).headers['set-cookie']).toBeUndefined()
  })

  // Attacks preview: a host name that only looks like the one of a preview, or of the product.
  test('the product is served at its own names alone', async () => {
    const own = `localhost:${patient.port}`
    expect((await get(own, '/')).body).toBe('the product')
    for (const host of [
      `x.localhost:${patient.port}`,
      `${taskId(1)}-0.localhost`,
      `${taskId(1)}-70000.localhost`,
    ])
      expect(await get(host, '/')).toMatchObject({ status: 404 })
    // These are not names of previews, so the requests go to the product.
    for (const host of ['localhost.evil.example', `${taskId(1)}-80.localhost.evil.example`, 'evillocalhost'])
      expect((await get(host, '/')).body).toBe('the product')
  })

  // Attacks preview: a request or a WebSocket with no cookie, or that of another task, port, sandbox or person.
  test.each([
    ['no cookie', () => ({})],
    ['another task', () => ({ taskId: taskId(2) })],
    ['another port', () => ({ port: 1 })],
    ['an ended sandbox', () => ({ sandboxId: 'sandbox-0' })],
    ['another person', () => ({ userId: userId(2) })],
  ] as const)('nobody comes in with the cookie of %s', async (what, more) => {
    let isAsked = false
    const port = await app((_, response) => ((isAsked = true), response.end('hello')))
    const cookie = await cookieOf(passFor(port, more()))
    const got = await get(hostOf(port), '/', what === 'no cookie' ? {} : { cookie })
    expect(got.status).toBeGreaterThanOrEqual(400)
    expect(isAsked).toBe(false)
    const socket = await socketTo(port, what === 'no cookie' ? {} : { cookie })
    const [, refused] = await once(socket, 'unexpected-response')
    expect(refused.statusCode).toBe(got.status)
  })

  // Attacks preview: an old ticket or cookie.
  test.each([
    [
      'ticket',
      async (pass: PreviewPass) => [`${ticketPath}?ticket=${await passes.ticketFor(pass)}`, {}] as const,
      61,
    ],
    ['cookie', async (pass: PreviewPass) => ['/', { cookie: await cookieOf(pass) }] as const, 12 * 3_600 + 1],
  ])('a %s expires', async (_, use, seconds) => {
    const port = await app((_request, response) => response.end('hello'))
    const [path, headers] = await use(passFor(port))
    now += seconds * 1_000
    expect(await get(hostOf(port), path, headers)).toMatchObject({ status: 401 })
  })

  // Attacks preview: a ticket is sent as the cookie, and the cookie as a ticket.
  test('a cookie is no ticket, and a ticket no cookie', async () => {
    const port = await app((_, response) => response.end('hello'))
    const asTicket = await passes.cookieOf(passFor(port))
    const asCookie = await passes.ticketFor(passFor(port))
    expect(await get(hostOf(port), `${ticketPath}?ticket=${asTicket}`)).toMatchObject({ status: 401 })
    expect(await get(hostOf(port), '/', { cookie: `flightdeck_preview=${asCookie}` })).toMatchObject({
      status: 401,
    })
  })

  // Attacks preview: a WebSocket goes on after its person has signed out.
  test('who has signed out is refused, and what was open is closed', async () => {
    const port = await sockets()
    const cookie = await cookieOf(passFor(port))
    const socket = await socketTo(port, { cookie })
    await once(socket, 'open')
    const closed = once(socket, 'close')
    ended = [owner.sessionId]
    await write(put('users', person()))
    await closed
    expect(await get(hostOf(port), '/', { cookie })).toMatchObject({ status: 401 })
  })

  test('whose session has expired is refused, and what was open is closed', async () => {
    const port = await sockets()
    const cookie = await cookieOf(passFor(port))
    const socket = await socketTo(port, { cookie })
    await once(socket, 'open')
    const closed = once(socket, 'close')
    expiresAt = new Date(now).toISOString()
    await write(put('users', person()))
    await closed
    expect(await get(hostOf(port), '/', { cookie })).toMatchObject({ status: 401 })
  })

  test('a session that the person does not have is refused', async () => {
    const port = await app((_, response) => response.end('hello'))
    const cookie = await cookieOf(passFor(port, { sessionId: 'session-2' }))
    expect(await get(hostOf(port), '/', { cookie })).toMatchObject({ status: 401 })
  })

  test('what is open stays open while the read models are behind', async () => {
    const port = await sockets()
    const socket = await socketTo(port, { cookie: await cookieOf(passFor(port)) })
    await once(socket, 'open')
    const registered = UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null })
    await engines.log.append(userStream(userId(1)), emptyHead, [registered], cause())
    const admit = vi.spyOn(passes, 'admit')
    closing.push(() => admit.mockRestore())
    const gone = { kind: 'remove', collection: 'users', id: userId(1), position: '1' } as const
    await engines.readStore.apply([gone], { projection: 'test', position: String((position += 1)) })
    const behind = () => admit.mock.settledResults.filter(({ type }) => type === 'rejected')
    const isClosed = () => socket.readyState === WebSocket.CLOSED
    await eventually('it is checked twice', () => behind().length > 1 || isClosed())
    expect(behind()[0]?.value).toMatchObject({ code: 'views_behind' })
    expect(isClosed()).toBe(false)
    socket.send('words')
    const [heard] = await once(socket, 'message')
    expect(String(heard)).toBe('heard words')
  })

  // Attacks preview: an endless answer goes on after the sandbox has ended.
  test('a preview ends with its sandbox', async () => {
    const port = await app((_, response) => response.write('endless'))
    const cookie = await cookieOf(passFor(port))
    const streaming = get(hostOf(port), '/', { cookie })
    streaming.catch(() => undefined)
    await eventually('the stream begins', async () => closing.length > 1)
    running = [sandbox('sandbox-2')]
    await expect(streaming).rejects.toThrow(/aborted|hang up/)
    const refused = await get(hostOf(port), '/', { cookie })
    expect(refused).toMatchObject({
      status: 409,
      body: expect.stringContaining('The sandbox of this task has ended.'),
    })
  })

  // Attacks preview: a form, script or frame of another site, or a page without an origin, uses the person's cookie.
  test.each([
    [
      'a form of another site',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      'POST',
    ],
    [
      'a script of another preview',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
      'GET',
    ],
    [
      'a frame of another site',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      'GET',
    ],
    ['a page of another origin', { origin: 'http://localhost' }, 'GET'],
    ['a page without an origin', { origin: 'null' }, 'POST'],
  ])('%s is refused', async (_, headers, method) => {
    const port = await app((_request, response) => response.end('hello'))
    const cookie = await cookieOf(passFor(port))
    expect(await get(hostOf(port), '/', { ...headers, cookie }, method)).toMatchObject({ status: 403 })
  })

  // Attacks preview: a page of another origin opens the preview's WebSocket.
  test('a WebSocket of another page is refused, and that of the preview is not', async () => {
    const port = await sockets()
    const cookie = await cookieOf(passFor(port))
    const foreign = await socketTo(port, { cookie, origin: 'http://localhost:1' })
    const [, refused] = await once(foreign, 'unexpected-response')
    expect(refused.statusCode).toBe(403)
    const own = await socketTo(port, { cookie, origin: `http://${hostOf(port)}` })
    await once(own, 'open')
    own.send('words')
    const [heard] = await once(own, 'message')
    expect(String(heard)).toBe('heard words')
  })

  // Attacks preview: WebSockets without end.
  test('one person has only so many WebSockets open', async () => {
    const port = await sockets()
    const cookie = await cookieOf(passFor(port))
    for (let n = 0; n < 32; n += 1) await once(await socketTo(port, { cookie }), 'open')
    const [, refused] = await once(await socketTo(port, { cookie }), 'unexpected-response')
    expect(refused.statusCode).toBe(429)
  })
})

describe('what passes', () => {
  // Attacks preview: the app reads the product's token and cookies in the requests that reach it.
  test('the app gets a request as at localhost, and nothing of the product', async () => {
    let seen: IncomingMessage['headers'] = {}
    const port = await app((request, response) => ((seen = request.headers), response.end('hello')))
    const own = `http://${hostOf(port)}`
    const cookie = `${await cookieOf(passFor(port))}; theme=dark; flightdeck_link=secret; __Host-flightdeck_sign_in=secret`
    const headers = {
      cookie,
      origin: own,
      referer: `${own}/page?a=1`,
      authorization: 'Bearer ours',
      'x-forwarded-for': '192.0.2.1',
      'x-hop': '1',
      connection: 'x-hop',
      'x-kept': 'yes',
    }
    await get(hostOf(port), '/', headers)
    expect(seen).toMatchObject({
      host: `localhost:${port}`,
      origin: `http://localhost:${port}`,
      referer: `http://localhost:${port}/page?a=1`,
      cookie: 'theme=dark',
      'x-kept': 'yes',
    })
    for (const name of ['authorization', 'x-forwarded-for', 'x-hop']) expect(seen).not.toHaveProperty(name)
    await get(hostOf(port), '/', {
      cookie,
      authorization: 'Bearer of-the-app',
      referer: 'http://localhost/tasks',
    })
    expect(seen).toMatchObject({ authorization: 'Bearer of-the-app' })
    expect(seen).not.toHaveProperty('referer')
  })

  // Attacks preview: the app's server sets cookies with the product's names, or for the product's host.
  // Attacks preview: the app lets pages of other origins frame it.
  test('the app sets cookies for its preview alone, and none of ours', async () => {
    const port = await app((_, response) => {
      response.setHeader('set-cookie', [
        'theme=dark; Domain=localhost; Path=/; HttpOnly',
        'flightdeck_preview=stolen',
        ' __Host-flightdeck_link=stolen; Secure',
        '=flightdeck_preview=stolen',
      ])
      response.setHeader('clear-site-data', '"cookies"')
      response.setHeader('content-security-policy', "default-src 'self'")
      response.end('hello')
    })
    const { headers } = await get(hostOf(port), '/', { cookie: await cookieOf(passFor(port)) })
    expect(headers['set-cookie']).toEqual(['theme=dark; Path=/; HttpOnly'])
    expect(headers).not.toHaveProperty('clear-site-data')
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'self', frame-ancestors 'self'",
      'x-frame-options': 'SAMEORIGIN',
      'cache-control': 'private',
    })
  })

  // Attacks preview: the app redirects to the product, to make the server ask it.
  test.each(['http://localhost:8080/tasks', 'https://elsewhere.example/', '//elsewhere.example/', '/inside'])(
    'a redirect to %s is passed on and not followed',
    async (location) => {
      const port = await app((_, response) => response.writeHead(302, { location }).end())
      const got = await get(hostOf(port), '/', { cookie: await cookieOf(passFor(port)) })
      expect(got).toMatchObject({ status: 302, headers: { location } })
    },
  )

  test('a redirect of the app to itself stays in the preview', async () => {
    const port = await app((request, response) =>
      response.writeHead(302, { location: `http://${request.headers.host ?? ''}/next` }).end(),
    )
    const got = await get(hostOf(port), '/', { cookie: await cookieOf(passFor(port)) })
    expect(got.headers.location).toBe(`http://${hostOf(port)}/next`)
  })

  // Attacks preview: a second request is hidden in the body of the first one.
  test('bodies pass in both directions', async () => {
    const port = await app((request, response) => void request.pipe(response))
    const cookie = await cookieOf(passFor(port))
    const long = 'x'.repeat(300_000)
    for (const headers of [{ 'transfer-encoding': 'chunked' }, { 'content-length': String(long.length) }])
      expect((await get(hostOf(port), '/', { cookie, ...headers }, 'POST', long)).body).toBe(long)
    // The body of a DELETE request is not taken for a second request.
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'
    const sent = await get(hostOf(port), '/', { cookie, 'transfer-encoding': 'chunked' }, 'DELETE', hidden)
    expect(sent.body).toBe(hidden)
  })
})

describe('an app or a client that misbehaves', () => {
  const refusals: readonly [string, () => Promise<number>, number, string][] = [
    ['says nothing', () => app(() => undefined), 504, 'did not answer in time'],
    [
      'sends endless headers',
      () => saying(`HTTP/1.1 200 OK\r\n${'x-more: 1234567890\r\n'.repeat(5_000)}`),
      502,
      'too long',
    ],
    ['does not speak HTTP', () => saying('220 mail\r\n'), 502, 'does not answer as HTTP does'],
    ['repeats that it goes on', () => saying('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)), 504, 'in time'],
    [
      'opens a WebSocket unasked',
      () => saying('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
      502,
      'nobody asked for',
    ],
    ['closes at once', () => app((request) => request.socket.destroy()), 502, 'without an answer'],
  ]
  // Attacks preview: an app is silent, sends endless headers, speaks no HTTP, or switches protocols unasked.
  test.each(refusals)('an app that %s', async (_, open, status, sentence) => {
    const port = await open()
    const headers = { cookie: await cookieOf(passFor(port)) }
    const at = status === 504 ? impatient : patient
    const got = await get(hostOf(port), '/', headers, 'GET', '', at)
    expect(got).toMatchObject({ status, body: expect.stringContaining(sentence) })
  })

  // Attacks preview: a page asks for more at once than a sandbox may have connections, or than it ever makes.
  test('an app has eight connections, also while they are made, and what waits for one is answered in time', async () => {
    let isHanging = true
    const connected: number[] = []
    const plain = sandbox('sandbox-1')
    const connect: RunningSandbox['connect'] = (port) => {
      connected.push(port)
      return isHanging ? new Promise(() => undefined) : plain.connect(port)
    }
    running = [{ ...plain, connect }]
    const port = await app((_, response) => response.end('hello'))
    const cookie = await cookieOf(passFor(port))
    const burst = (at: typeof patient) =>
      Promise.all(Array.from({ length: 20 }, () => get(hostOf(port), '/', { cookie }, 'GET', '', at)))
    const late = await burst(impatient)
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([504]))
    expect(connected).toHaveLength(8)
    isHanging = false
    const answered = await burst(patient)
    expect(new Set(answered.map(({ body }) => body))).toEqual(new Set(['hello']))
    expect(connected.length).toBeLessThanOrEqual(16)
  })

  test('a port on which nothing listens', async () => {
    const got = await get(hostOf(1), '/', { cookie: await cookieOf(passFor(1)) })
    expect(got).toMatchObject({ status: 502, body: expect.stringContaining('Nothing listens on port 1') })
  })

  // Attacks preview: a request that two servers would read differently.
  test('a request that could be read in two ways is refused', async () => {
    let requests = 0
    const port = await app((_, response) => ((requests += 1), response.end('hello')))
    const head = `Host: ${hostOf(port)}\r\nCookie: ${await cookieOf(passFor(port))}\r\nConnection: close\r\n`
    const both = `POST / HTTP/1.1\r\n${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`
    expect(await raw(both)).toMatch(/^HTTP\/1\.1 400 /)
    expect(await raw(`GET http://localhost/ HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 400 /)
    expect(await raw(`GET / HTTP/1.1\r\n${head.replace('close', 'Upgrade')}Upgrade: h2c\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    )
    expect(requests).toBe(0)
  })

  // Attacks preview: a client sends too long headers, or headers that never end.
  test('an upgrade with too long headers, and headers that never end, are cut off', async () => {
    const port = await sockets()
    const head = `GET / HTTP/1.1\r\nHost: ${hostOf(port)}\r\n`
    expect(
      await raw(`${head}Connection: Upgrade\r\nUpgrade: websocket\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`),
    ).toMatch(/^HTTP\/1\.1 431 /)
    expect(await raw(head, impatient)).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('an answer that breaks off breaks off for the browser', async () => {
    const port = await saying('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun')
    running = [{ ...sandbox('sandbox-1'), connect: (given) => cut(given) }]
    async function cut(given: number) {
      const socket = connectTo(given, '127.0.0.1')
      socket.on('data', () => setImmediate(() => socket.destroy()))
      return socket
    }
    await expect(get(hostOf(port), '/', { cookie: await cookieOf(passFor(port)) })).rejects.toThrow('aborted')
  })
})
