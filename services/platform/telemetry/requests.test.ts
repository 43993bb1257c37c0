/** The log line of a request, its id, and what the line contains. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { Router } from '@koa/router'
import Koa, { type Middleware } from 'koa'
import { afterEach, expect, test, vi } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { faultResponses } from '#platform/http/faultResponses.ts'
import { logger } from '#platform/log.ts'
import { adoptRequest, requestIdOf, requests } from './requests.ts'
import type { Observation } from './telemetry.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Starts a server that answers `/api/tasks/:taskId` with `serve`. Keeps the lines that it logs and the observations that it emits. */
async function serving(serve: Middleware, serverKind: 'gateway' | 'service' = 'gateway') {
  const lines: Record<string, unknown>[] = []
  const seen: Observation[] = []
  let count = 0
  const fresh = () => uuid((count += 1))
  const destination = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const log = logger('debug', {}, destination)
  const app = new Koa()
  app.silent = true
  app.use(requests({ serverKind, logger: log, fresh, emit: (observation) => void seen.push(observation) }))
  app.use(faultResponses(log, fresh))
  app.use((context, next) => {
    context.state.identity = { userId: 'u1', sessionId: 's1' }
    if (context.get('x-trusted') !== '') adoptRequest(context)
    return next()
  })
  app.use(async (context, next) => {
    if (context.path !== '/healthz') return next()
    context.body = 'ok'
  })
  app.use(new Router({ prefix: '/api' }).get('/tasks/:taskId', serve).routes())
  const listening = app.listen(0, '127.0.0.1')
  server = listening
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    const text = await answer.text()
    return { id: answer.headers.get('x-request-id'), headers: answer.headers, text, status: answer.status }
  }
  return { lines, seen, ask, port }
}

const fine: Middleware = (context) => {
  context.body = { id: requestIdOf(context) }
}

test('a request is one line with its route, and without its address, its headers or its body', async () => {
  const { lines, ask } = await serving(fine)
  const { id } = await ask('/api/tasks/7?token=secret', {
    authorization: 'Bearer secret',
    cookie: 'a=secret',
  })
  await vi.waitFor(() => expect(lines).toHaveLength(1))
  expect(lines[0]).toEqual({
    level: 30,
    time: expect.any(String),
    requestId: id,
    method: 'GET',
    route: '/api/tasks/:taskId',
    status: 200,
    ms: expect.any(Number),
    bytes: expect.any(Number),
    userId: 'u1',
    msg: 'request',
  })
  expect(Number(lines[0]?.['bytes'])).toBeGreaterThan(JSON.stringify({ id }).length)
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('an id that comes from outside counts for nothing, one from another service is taken over', async () => {
  const { ask } = await serving(fine)
  expect((await ask('/api/tasks/7', { 'x-request-id': uuid(9) })).id).toBe(uuid(1))
  const adopted = await ask('/api/tasks/7', { 'x-request-id': uuid(9), 'x-trusted': '1' })
  expect([adopted.id, JSON.parse(adopted.text)]).toEqual([uuid(9), { id: uuid(9) }])
  expect((await ask('/api/tasks/7', { 'x-request-id': 'no id', 'x-trusted': '1' })).id).toBe(uuid(3))
})

test('a service tells its route, a gateway does not', async () => {
  expect((await (await serving(fine)).ask('/api/tasks/7')).headers.get('x-flightdeck-route')).toBeNull()
  server?.close()
  const { ask } = await serving(fine, 'service')
  expect((await ask('/api/tasks/7')).headers.get('x-flightdeck-route')).toBe('/api/tasks/:taskId')
})

test.each([
  ['/api/none', 'unknown', 30],
  ['/somewhere/else', 'client', 30],
  ['/healthz', '/healthz', 20],
])('%s is the route %s', async (path, route, level) => {
  const { lines, ask } = await serving(fine)
  await ask(path)
  await vi.waitFor(() => expect(lines).toMatchObject([{ route, level }]))
})

test('a refusal is a line as any, a fault of ours is a warning beside what is known of it, under the same id', async () => {
  const refusing = await serving(() => {
    throw new Fault('not_found')
  })
  await refusing.ask('/api/tasks/7')
  await vi.waitFor(() => expect(refusing.lines).toMatchObject([{ level: 30, status: 404 }]))
  server?.close()
  const failing = await serving(() => {
    throw new Error('Broken')
  })
  const { id } = await failing.ask('/api/tasks/7?token=secret')
  await vi.waitFor(() =>
    expect(failing.lines).toMatchObject([
      { level: 50, requestId: id, route: '/api/tasks/:taskId', err: { message: 'Broken' } },
      { level: 40, requestId: id, status: 500 },
    ]),
  )
  expect(JSON.stringify(failing.lines)).not.toContain('secret')
})

test('what took more than a second is a warning', async () => {
  const { lines, ask } = await serving(async (context) => {
    // Sets the clock 1.5 seconds ahead, so that the request seems to take that long.
    const begun = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => begun + 1_500)
    context.body = 'slow'
  })
  await ask('/api/tasks/7')
  await vi.waitFor(() => expect(lines).toMatchObject([{ level: 40, status: 200 }]))
  vi.restoreAllMocks()
})

test('who goes away before the answer is told of as gone', async () => {
  let come = () => {}
  const arrived = new Promise<void>((resolve) => {
    come = resolve
  })
  const { lines, seen, port } = await serving(async () => {
    come()
    await new Promise(() => {})
  })
  const connection = connect(port, '127.0.0.1')
  connection.write('GET /api/tasks/7 HTTP/1.1\r\nHost: x\r\n\r\n')
  await arrived
  connection.destroy()
  await vi.waitFor(() => expect(lines).toMatchObject([{ level: 30, status: 'gone' }]))
  expect(seen).toMatchObject([{ kind: 'request', status: 'gone', route: '/api/tasks/:taskId' }])
})
