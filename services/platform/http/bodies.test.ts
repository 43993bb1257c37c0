/** Request bodies while they are received: how much one sender, and all senders together, may have under way. */
import { once } from 'node:events'
import { createServer, request, type ClientRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { faultResponses } from './faultResponses.ts'
import { createBodies } from './bodies.ts'
import { logger } from '#platform/log.ts'

const mebibyte = 1_048_576
let server: Server
let open: ClientRequest[] = []
beforeEach(async () => {
  const bodies = createBodies()
  const app = new Koa()
  app.proxy = true
  app.silent = true
  app.use(faultResponses(logger('silent'), () => 'request-1'))
  app.use((context, next) => {
    const userId = context.get('x-user')
    context.state.identity = userId === '' ? null : { userId, sessionId: 's' }
    return next()
  })
  app.use(async (context) => {
    context.body = { bytes: (await bodies.read(context, 60 * mebibyte)).length }
  })
  server = createServer(app.callback())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  for (const one of open) one.destroy()
  open = []
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

interface Sending {
  readonly status: Promise<number>
  readonly written: Promise<void>
  end(rest?: Buffer): void
}

/** Sends the first `bytes` of a body for which the length `announced` is announced (`null`: none). `end` sends the rest, by default one byte. */
function send(bytes: number, headers: Record<string, string>, announced: number | null = bytes + 1): Sending {
  const { port } = server.address() as AddressInfo
  const length: Record<string, string> = announced === null ? {} : { 'content-length': String(announced) }
  const asking = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    agent: false,
    headers: { ...length, ...headers },
  })
  open.push(asking)
  const status = new Promise<number>((resolve) => {
    asking.once('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asking.on('error', () => resolve(0))
  })
  const written = new Promise<void>((resolve) => {
    asking.write(Buffer.alloc(bytes), () => resolve())
    asking.once('close', () => resolve())
  })
  return { status, written, end: (rest = Buffer.from('x')) => void asking.end(rest) }
}

async function sendWhole(bytes: number, headers: Record<string, string>): Promise<number> {
  const sending = send(bytes, headers)
  await sending.written
  sending.end()
  return sending.status
}
const from = (address: string) => ({ 'x-forwarded-for': address })

// Holds findings 1.106.
test('security M1: an address has its share of what may be under way, others have theirs, and small bodies have room of their own', async () => {
  const held = send(25 * mebibyte, from('192.0.2.1'))
  await held.written
  expect(await send(25 * mebibyte, from('192.0.2.1')).status).toBe(429)
  expect(await sendWhole(10 * mebibyte, from('192.0.2.2'))).toBe(200)
  expect(await sendWhole(200 * 1_024, from('192.0.2.1'))).toBe(200)
  held.end()
  expect(await held.status).toBe(200)
  expect(await sendWhole(25 * mebibyte, from('192.0.2.1'))).toBe(200)
})

test('security M1: all addresses together have a share, and who has signed in has one beside it', async () => {
  const held = ['192.0.2.1', '192.0.2.2'].map((address) => send(16 * mebibyte, from(address)))
  await Promise.all(held.map(({ written }) => written))
  expect(await send(25 * mebibyte, from('192.0.2.3')).status).toBe(503)
  const person = { ...from('192.0.2.1'), 'x-user': 'ada' }
  expect(await sendWhole(25 * mebibyte, person)).toBe(200)
})

test('security H1: what does not fit beside what was announced is refused at once, and what has begun can end', async () => {
  const begun = send(12 * mebibyte, from('192.0.2.1'), 25 * mebibyte)
  await begun.written
  expect(await send(20 * mebibyte, from('192.0.2.2')).status).toBe(503)
  begun.end(Buffer.alloc(13 * mebibyte))
  expect(await begun.status).toBe(200)
})

test('security M1: small bodies of one address have a bound too, and leave others their room', async () => {
  const held = Array.from({ length: 30 }, () => send(250 * 1_024, from('192.0.2.1')))
  const refused = await Promise.race(held.map(({ status }) => status))
  expect(refused).toBe(429)
  expect(await sendWhole(250 * 1_024, from('192.0.2.2'))).toBe(200)
})

// Holds findings 1.107.
test('security M1: all addresses of one IPv6 network are one sender', async () => {
  const held = send(25 * mebibyte, from('2001:db8:1:2::1'))
  await held.written
  expect(await send(25 * mebibyte, from('2001:db8:1:2:3::4')).status).toBe(429)
  expect(await sendWhole(9 * mebibyte, from('2001:db8:1:3::1'))).toBe(200)
})

test('a body whose length nobody announced counts as a large one', async () => {
  const held = send(25 * mebibyte, from('192.0.2.1'))
  await held.written
  const unannounced = send(10 * mebibyte, from('192.0.2.1'), null)
  expect(await unannounced.status).toBe(429)
})

test('a body above the limit is refused, announced or not, and nothing of it is kept', async () => {
  expect(await send(60 * mebibyte, { 'x-user': 'ada' }).status).toBe(413)
  expect(await send(61 * mebibyte, { 'x-user': 'ada' }, null).status).toBe(413)
  expect(await sendWhole(50 * mebibyte, { 'x-user': 'ada' })).toBe(200)
})

test('a sender who goes away gives back what they had', async () => {
  const held = send(25 * mebibyte, from('192.0.2.1'))
  await held.written
  for (const one of open) one.destroy()
  await expect.poll(() => sendWhole(25 * mebibyte, from('192.0.2.1'))).toBe(200)
})
