/** The doors of the product, tried by somebody who means harm: addresses in disguise, forged headers, foreign names, bad bodies, idle connections. */
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProduct, type Product } from '../product.ts'
import type { Person } from '../product/person.ts'

const limit = 40
const strangers = 60
let product: Product
let ada: Person
beforeAll(async () => {
  const env = {
    REQUESTS_PER_MINUTE: String(limit / 2),
    TRUST_PROXY: '1',
    ALLOWED_USERS: '*',
    STRANGERS_PER_ADDRESS: String(strangers / 4),
  }
  product = await startProduct({ env })
  ada = await product.signIn('ada')
})
afterAll(() => product?.stop())

let addresses = 0
/** An address that nobody has asked from. */
const freshAddress = () => `198.51.100.${(addresses += 1)}`

/** A request whose target and headers are sent as they are written. */
function ask(
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', body }: { method?: string; body?: Buffer } = {},
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(product.base)
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path, method, headers, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    asking.once('error', reject)
    asking.end(body)
  })
}

test.each([
  '/API/auth/me',
  '/Api/auth/me',
  '/api/AUTH/me',
  '//api/auth/me',
  '/api//auth/me',
  '/./api/auth/me',
  '/x/../api/auth/me',
  '/api%2fauth/me',
  '/api%2Fauth%2Fme',
  '/%61pi/auth/me',
  '/%2561pi/auth/me',
  '/api/./auth/me',
  '/api;x/auth/me',
  '/\\api/auth/me',
])('finding 12: %s is not another way to a call', async (path) => {
  expect((await ask(path)).status).toBe(404)
})

test.each(['/api/auth/me', '/api/auth/me/', 'http://localhost/api/auth/me', '/api/auth/me?x=//API'])(
  'finding 12: what is asked as %s is counted',
  async (path) => {
    const from = { 'x-forwarded-for': freshAddress() }
    const statuses: number[] = []
    for (let asked = 0; asked < limit + 5; asked += 1) statuses.push((await ask(path, from)).status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
  },
)

test('finding 11: what stands left of the proxy’s own entry gives nobody a new limit', async () => {
  const own = freshAddress()
  const statuses: number[] = []
  for (let asked = 0; asked < limit + 5; asked += 1) {
    const forged = { 'x-forwarded-for': `203.0.113.${asked}, ${own}`, 'x-forwarded-host': 'evil.example' }
    statuses.push((await ask('/api/auth/me', forged)).status)
  }
  expect(statuses.filter((status) => status === 429)).toHaveLength(5)
})

test('finding low: a foreign name is refused, for requests and for the live connection', async () => {
  const foreign = { host: 'evil.example', 'x-forwarded-for': freshAddress() }
  const registration = Buffer.from('{"name":"Eve","email":"eve@evil.example","password":"a long password"}')
  const refused = [
    await ask(
      '/api/auth/register',
      { ...foreign, 'content-type': 'application/json' },
      { method: 'POST', body: registration },
    ),
    await ask('/', foreign),
    await ask('http://evil.example/api/auth/me'),
  ]
  expect(refused.map(({ status }) => status)).toEqual([421, 421, 421])
  expect(refused[0]?.text).toContain('foreign_host')
  const socket = '/socket.io/?EIO=4&transport=polling'
  expect((await ask(socket, foreign)).status).toBe(403)
  expect((await ask(socket, { origin: 'https://evil.example' })).status).toBe(403)
  expect((await ask(socket, { origin: product.base })).status).toBe(200)
  expect((await ask('/healthz', foreign)).status).toBe(200)
})

test('finding low: a body that is not what its coding says is refused, and one that unpacks to much as well', async () => {
  const send = (coding: string, body: Buffer) =>
    ask(
      '/api/auth/login',
      { 'content-type': 'application/json', 'content-encoding': coding, 'x-forwarded-for': freshAddress() },
      { method: 'POST', body },
    )
  for (const coding of ['br', 'gzip', 'deflate'])
    expect(await send(coding, Buffer.from('{"email":"x"}'))).toMatchObject({
      status: 400,
      text: expect.stringContaining('invalid_input'),
    })
  const large = Buffer.alloc(50_000_000, ' ')
  expect((await send('br', brotliCompressSync(large))).status).toBe(413)
  expect((await send('gzip', gzipSync(large))).status).toBe(413)
})

test('finding low: connections without a sign-in are so many and no more, and leave room for who has signed in', async () => {
  const live = await ada.socket()
  const { hostname, port } = new URL(product.base)
  const held: Socket[] = []
  let closed = 0
  for (let opened = 0; opened < strangers * 3; opened += 1) {
    const connection = connect({ host: hostname, port: Number(port) })
    connection.on('error', () => undefined).once('close', () => (closed += 1))
    held.push(connection)
    await once(connection, 'connect')
  }
  try {
    await expect.poll(() => closed, { timeout: 10_000 }).toBeGreaterThanOrEqual(strangers * 2)
    expect(live.isConnected()).toBe(true)
  } finally {
    for (const connection of held) connection.destroy()
    live.close()
  }
  await expect
    .poll(
      () =>
        ask('/healthz').then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 10_000 },
    )
    .toBe(200)
})
