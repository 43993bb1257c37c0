import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import Koa, { type Middleware } from 'koa'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { faultResponses } from '#platform/http/faultResponses.ts'
import { createBodies, readJson } from '#platform/http/bodies.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import { startServiceApp } from '#platform/http/serviceApp.ts'
import { serviceTokens, type Callee, type ServiceTokens } from '#platform/http/serviceToken.ts'
import { logger } from '#platform/log.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { upstream, type Upstream } from './upstream.ts'

const log = logger('silent')
const ids = { uuid: () => randomUUID() }
const clock = { now: () => new Date() }
const person = { userId: 'u1', sessionId: 's1' }

let folder: string
let vault: Vault
let tokens: ServiceTokens
let closing: (() => unknown)[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-upstream-'))
  vault = openSqliteVault({ file: join(folder, 'vault.sqlite'), masterKey: randomBytes(32) })
  tokens = serviceTokens({ vault, clock })
  closing = []
})
afterEach(async () => {
  for (const close of closing.toReversed()) await close()
  await vault.close()
  await rm(folder, { recursive: true })
})

async function listening(server: Server, port = 0): Promise<string> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return `http://127.0.0.1:${taken}`
}

/** Starts a service that answers every request with `serve`. Returns its address. */
async function serviceThat(serve: RequestListener): Promise<string> {
  const server = createServer(serve)
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return listening(server)
}

/** Starts a gateway that forwards the requests of a signed-in person to the service at `url`. */
async function gatewayTo(
  service: Callee,
  url: string,
  { parsing = false, silenceMs = 30_000 }: { parsing?: boolean; silenceMs?: number } = {},
): Promise<{ at: string; proxy: Upstream }> {
  const proxy = upstream({ service, url, silenceMs }, { tokens, logger: log })
  const app = new Koa()
  app.silent = true
  app.use(faultResponses(log, ids.uuid))
  app.use(async (context, next) => {
    context.state.identity = person
    await next()
  })
  if (parsing) app.use(readJson(createBodies()))
  app.use(proxy.middleware)
  const server = createServer(app.callback())
  closing.push(() => {
    proxy.close()
    server.closeAllConnections()
    server.close()
  })
  return { at: await listening(server), proxy }
}

const created: Middleware = (context) => {
  context.status = 201
  context.body = { ...context.state, body: context.request.body, url: context.url }
}

test.each([false, true])(
  'a write comes to the command service with its body and its person (read before: %j)',
  async (parsing) => {
    const service = await startServiceApp(
      {
        host: '127.0.0.1',
        port: 0,
        parts: new Map(),
        apis: new Map([['command', created]]),
      },
      { tokens, logger: log, ids, emit: noTelemetry },
    )
    closing.push(() => service.stop())
    const { at } = await gatewayTo('command', `http://127.0.0.1:${service.port}`, { parsing })
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await fetch(`${at}/api/tasks?x=%2F`, {
        method,
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer mine',
          // A request id from outside is ignored.
          'x-request-id': '00000000-0000-4000-8000-000000000001',
        },
        body: JSON.stringify({ title: 'naïve 👩‍💻' }),
      })
      expect(answer.status).toBe(201)
      expect(await answer.json()).toEqual({
        identity: person,
        body: { title: 'naïve 👩‍💻' },
        url: '/api/tasks?x=%2F',
        requestId: answer.headers.get('x-request-id'),
      })
      expect(answer.headers.get('x-request-id')).not.toMatch(/^00000000-/)
      expect(answer.headers.get('x-flightdeck-route')).toBeNull()
    }
    const empty = await fetch(`${at}/api/tasks`, { method: 'POST' })
    expect(empty.status).toBe(201)
  },
)

test('reads go to the query service, writes to the command service, and what is not of the API to neither', async () => {
  const asked: string[] = []
  const url = await serviceThat((incoming, answer) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    answer.end('ok')
  })
  const query = await gatewayTo('query', url)
  const command = await gatewayTo('command', url)
  for (const { at } of [query, command]) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      await fetch(`${at}/api/${at === query.at ? 'query' : 'command'}`, { method })
      await fetch(`${at}/other`, { method })
    }
  }
  expect(asked).toEqual(['GET /api/query', 'HEAD /api/query', 'POST /api/command'])
})

test('headers of one connection, and credentials of the person, are not passed on; the others are', async () => {
  let came: IncomingMessage['headers'] = {}
  const url = await serviceThat((incoming, answer) => {
    came = incoming.headers
    answer.setHeader('connection', 'close, x-hop')
    answer.setHeader('x-hop', 'theirs')
    answer.setHeader('etag', '"e"')
    answer.setHeader('set-cookie', ['a=1', 'b=2'])
    answer.end('{}')
  })
  const { at } = await gatewayTo('query', url)
  const { hostname, port } = new URL(at)
  const asking = request({
    hostname,
    port,
    path: '/api/x',
    headers: {
      connection: 'keep-alive, x-mine',
      'x-mine': 'mine',
      te: 'trailers',
      cookie: 'secret=1',
      authorization: 'Bearer secret',
      'idempotency-key': 'k',
      'if-none-match': '"e"',
    },
  }).end()
  const [answer]: IncomingMessage[] = await once(asking, 'response')
  answer?.resume()
  expect(JSON.stringify(came)).not.toMatch(/secret|x-mine|trailers/)
  expect(came).toMatchObject({ 'idempotency-key': 'k', 'if-none-match': '"e"', host: new URL(url).host })
  expect(came.authorization).toMatch(/^Bearer /)
  expect(answer?.headers).toMatchObject({ etag: '"e"', 'set-cookie': ['a=1', 'b=2'] })
  expect(answer?.headers).not.toHaveProperty('x-hop')
})

test.each([
  [204, '', undefined],
  [304, '', undefined],
  [404, '{"error":"There is no such task.","code":"not_found"}', 'application/json'],
  [500, 'whatever', 'text/plain'],
])('the answer %d comes back as it is', async (status, body, type) => {
  const url = await serviceThat((_, answer) => {
    answer.statusCode = status
    if (type !== undefined) answer.setHeader('content-type', type)
    answer.end(body)
  })
  const { at } = await gatewayTo('query', url)
  const answer = await fetch(`${at}/api/x`)
  expect([answer.status, await answer.text(), answer.headers.get('content-type')]).toEqual([
    status,
    body,
    type ?? null,
  ])
})

test('a service that is away is a 503 with a sentence, and is taken up again when it is there', async () => {
  const server = createServer((_, answer) => answer.end('"here"'))
  const url = await listening(server)
  server.close()
  await once(server, 'close')
  const query = await gatewayTo('query', url)
  const command = await gatewayTo('command', url)
  for (const [at, method, service] of [
    [query.at, 'GET', 'query'],
    [command.at, 'POST', 'command'],
  ]) {
    const answer = await fetch(`${at}/api/x`, { method: method ?? '' })
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      {
        code: 'engine_unavailable',
        error: `The ${service} service is not responding. Try again in a moment.`,
      },
    ])
  }
  await expect(query.proxy.ready()).rejects.toThrow('unreachable')
  await listening(server, Number(new URL(url).port))
  closing.push(() => server.close())
  expect(await (await fetch(`${query.at}/api/x`)).json()).toBe('here')
  await query.proxy.ready()
})

test('a read whose connection breaks is tried once more, a write never', async () => {
  const asked: string[] = []
  const url = await serviceThat((incoming, answer) => {
    asked.push(incoming.method ?? '')
    if (asked.length === 1 || incoming.method === 'POST') incoming.socket.destroy()
    else answer.end('ok')
  })
  const query = await gatewayTo('query', url)
  expect(await (await fetch(`${query.at}/api/x`)).text()).toBe('ok')
  const command = await gatewayTo('command', url)
  const answer = await fetch(`${command.at}/api/x`, { method: 'POST', body: 'x' })
  expect([answer.status, await answer.json()]).toMatchObject([
    503,
    { error: expect.stringContaining('may have been carried out') },
  ])
  expect(asked).toEqual(['GET', 'GET', 'POST'])
})

test('a service that says nothing is a 504 after the time for it, and is not asked again', async () => {
  let asked = 0
  const url = await serviceThat(() => {
    asked += 1
  })
  for (const [service, method] of [
    ['query', 'GET'],
    ['command', 'POST'],
  ] as const) {
    const { at } = await gatewayTo(service, url, { silenceMs: 1_000 })
    const answer = await fetch(`${at}/api/x`, { method })
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'timeout' }])
  }
  expect(asked).toBe(2)
})

test('an answer streams: its beginning is there before its end, and an end that never comes breaks it off', async () => {
  const url = await serviceThat((_, answer) => void answer.write('first'))
  const { at } = await gatewayTo('query', url, { silenceMs: 2_000 })
  const answer = await fetch(`${at}/api/x`)
  const reader = answer.body?.getReader()
  const first = await reader?.read()
  expect(Buffer.from(first?.value ?? []).toString()).toBe('first')
  await expect(reader?.read()).rejects.toThrow('terminated')
})

test('a large body streams through whole', async () => {
  const url = await serviceThat((incoming, answer) => {
    void buffer(incoming).then((body) => answer.end(String(body.byteLength)))
  })
  const { at } = await gatewayTo('command', url)
  const pieces = Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(256 * 1_024)))
  const answer = await fetch(`${at}/api/upload`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: Readable.toWeb(pieces) as ReadableStream,
    duplex: 'half',
  } as RequestInit)
  expect(await answer.text()).toBe(String(64 * 256 * 1_024))
})

test('who goes away takes the request along', async () => {
  let isGone = false
  let hasCome = false
  const url = await serviceThat((incoming) => {
    hasCome = true
    incoming.once('close', () => {
      isGone = true
    })
  })
  const { at } = await gatewayTo('query', url)
  const leaving = new AbortController()
  const asking = fetch(`${at}/api/x`, { signal: leaving.signal })
  await vi.waitFor(() => expect(hasCome).toBe(true))
  leaving.abort()
  await expect(asking).rejects.toThrow('aborted')
  await vi.waitFor(() => expect(isGone).toBe(true))
})

test('a service under another master key is a fault of ours, not a sign-out of the person', async () => {
  const other = openSqliteVault({ file: join(folder, 'other.sqlite'), masterKey: randomBytes(32) })
  const service = await startServiceApp(
    { host: '127.0.0.1', port: 0, parts: new Map(), apis: new Map([['query', () => {}]]) },
    { tokens: serviceTokens({ vault: other, clock }), logger: log, ids, emit: noTelemetry },
  )
  closing.push(
    () => service.stop(),
    () => other.close(),
  )
  const { at, proxy } = await gatewayTo('query', `http://127.0.0.1:${service.port}`)
  const answer = await fetch(`${at}/api/x`)
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'engine_unavailable' }])
  await proxy.ready()
})

test('requests that follow each other share a connection', async () => {
  let connections = 0
  const server = createServer((_, answer) => answer.end('ok'))
  server.on('connection', () => {
    connections += 1
  })
  const url = await listening(server)
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { at } = await gatewayTo('query', url)
  for (let count = 0; count < 20; count += 1) await (await fetch(`${at}/api/x`)).text()
  expect(connections).toBe(1)
})

test.skipIf(process.platform !== 'linux')(
  'a service that takes no connection is given up after seconds',
  async () => {
    // The program never accepts a connection, and the kernel's queue of waiting connections is full, so a further one gets no answer.
    const program = `const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))`
    const child = spawn(process.execPath, ['-e', program], { env: {}, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line]: Buffer[] = await once(child.stdout, 'data')
    const port = Number(line)
    child.kill('SIGSTOP')
    closing.push(() => child.kill('SIGKILL'))
    const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    closing.push(() => waiting.forEach((socket) => socket.destroy()))
    await vi.waitFor(() => expect(waiting.some((socket) => !socket.connecting)).toBe(true))

    const { at } = await gatewayTo('command', `http://127.0.0.1:${port}`)
    const answer = await fetch(`${at}/api/x`, { method: 'POST' })
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { error: 'The command service is not responding. Try again in a moment.' },
    ])
  },
  15_000,
)
