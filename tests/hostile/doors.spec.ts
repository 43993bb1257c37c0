/** The product's entrances, attacked from outside: disguised addresses, forged headers, foreign host names, bad bodies, idle connections. */
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { lstat, readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { webhookPath } from '#domain/api/server.ts'
import { startProduct, type Product } from '../product.ts'
import type { Person } from '../product/person.ts'

const limit = 40
const strangers = 60
const webhookSecret = 'a secret of the webhook'
let product: Product
let ada: Person
beforeAll(async () => {
  const env = {
    REQUESTS_PER_MINUTE: String(limit / 2),
    TRUST_PROXY: '1',
    ALLOWED_USERS: '*',
    STRANGERS_PER_ADDRESS: String(strangers / 4),
    GITHUB_WEBHOOK_SECRET: webhookSecret,
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

// Holds findings 1.38.
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

// Holds findings 1.37.
test('finding 11: what stands left of the proxy’s own entry gives nobody a new limit', async () => {
  const own = freshAddress()
  const statuses: number[] = []
  for (let asked = 0; asked < limit + 5; asked += 1) {
    const forged = { 'x-forwarded-for': `203.0.113.${asked}, ${own}`, 'x-forwarded-host': 'evil.example' }
    statuses.push((await ask('/api/auth/me', forged)).status)
  }
  expect(statuses.filter((status) => status === 429)).toHaveLength(5)
})

// Holds findings 1.59.
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
  const opened = await ask(socket, { origin: product.base })
  expect(opened.status).toBe(200)
  expect((await ask('/healthz', foreign)).status).toBe(200)
  // The session is closed, so that it takes nobody's place.
  const sid = /"sid":"([^"]+)"/.exec(opened.text)?.[1] ?? ''
  const closing = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '1' }
  expect((await fetch(`${product.base}${socket}&sid=${sid}`, closing)).status).toBe(200)
})

// Holds findings 1.57.
test('finding low: a body that is not what its coding says is refused, and one that unpacks to much as well', async () => {
  const large = Buffer.alloc(50_000_000, ' ')
  for (const [coding, body] of [
    ['br', Buffer.from('{"email":"x"}')],
    ['br', brotliCompressSync(large)],
    ['gzip', gzipSync(large)],
  ] as const)
    expect(await sendPacked('/api/auth/login', coding, body)).toMatchObject(packedRefused)
})

const packedRefused = {
  status: 415,
  text: expect.stringMatching(/"error":"[^"]*Content-Encoding[^"]*","code":"unsupported_type"/),
}

const sendPacked = (path: string, coding: string, body: Buffer, headers: Record<string, string> = {}) =>
  ask(
    path,
    {
      'content-type': 'application/json',
      'content-encoding': coding,
      'x-forwarded-for': freshAddress(),
      ...headers,
    },
    { method: 'POST', body },
  )

// Holds findings 1.102.
test.each(['br', 'gzip', 'deflate', 'x-gzip', 'BR', 'identity, br', 'br, gzip'])(
  'security H1: a body packed as %s is refused and not unpacked, whoever sends it to whichever call',
  async (coding) => {
    const packed = coding.toLowerCase().endsWith('br')
      ? brotliCompressSync('{"route":"/"}')
      : gzipSync('{"route":"/"}')
    const signedIn = { authorization: `Bearer ${ada.token}` }
    const multipart = { ...signedIn, 'content-type': 'multipart/form-data; boundary=x' }
    expect(await sendPacked('/api/page-views', coding, packed)).toMatchObject(packedRefused)
    expect(await sendPacked('/api/tasks', coding, packed, signedIn)).toMatchObject(packedRefused)
    expect(await sendPacked('/api/upload/image', coding, packed, multipart)).toMatchObject(packedRefused)
  },
)

test('security H1: a body that says that it is not packed is taken', async () => {
  const body = Buffer.from('{"route":"/"}')
  expect((await sendPacked('/api/page-views', 'identity', body)).status).toBe(200)
})

const delivery = (secret = webhookSecret) => {
  const body = Buffer.from(JSON.stringify({ action: 'opened', sender: { id: 1, type: 'User' } }))
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'pull_request',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }
  return { body, headers }
}
/** Delivers something small. Resolves to the status of the answer. */
async function deliver(from: string): Promise<number> {
  const { body, headers } = delivery()
  const options = { method: 'POST', body }
  return (await ask(webhookPath, { ...headers, 'x-forwarded-for': from }, options)).status
}

/** A request whose body is announced and never comes to its end. `answer` resolves once the connection is closed. */
function sendUnfinished(
  path: string,
  headers: Record<string, string>,
  { announced, sent }: { announced: number; sent: number },
): { written: Promise<void>; answer: Promise<{ status: number; text: string }>; close(): void } {
  const { hostname, port } = new URL(product.base)
  const asking = request({
    hostname,
    port,
    path,
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-length': String(announced) },
  })
  const answer = new Promise<{ status: number; text: string }>((resolve) => {
    asking.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('error', () => undefined)
      response.once('close', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asking.on('error', () => resolve({ status: 0, text: '' }))
  })
  const written = new Promise<void>((resolve) => {
    asking.write(Buffer.alloc(sent, ' '), () => resolve())
    asking.once('close', () => resolve())
  })
  return { written, answer, close: () => void asking.destroy() }
}

// Holds findings 1.104.
test('security M1: deliveries that never end do not keep out those that are small, also from the same address', async () => {
  const from = freshAddress()
  const announced = 25 * 1_024 * 1_024
  const held = Array.from({ length: 4 }, () =>
    sendUnfinished(
      webhookPath,
      { ...delivery('a guess').headers, 'x-forwarded-for': from },
      { announced, sent: announced - 1 },
    ),
  )
  try {
    await Promise.all(held.map(({ written }) => written))
    const statuses: number[] = []
    for (let count = 0; count < 10; count += 1) statuses.push(await deliver(from))
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 202))
    expect(await deliver(freshAddress())).toBe(202)
  } finally {
    for (const one of held) one.close()
  }
})

// Holds findings 1.105.
test('security M1: a body that stops coming is answered 408 at every door, and its connection is closed', async () => {
  const json = { 'content-type': 'application/json' }
  const doors: [string, Record<string, string>][] = [
    [webhookPath, delivery().headers],
    ['/api/auth/login', json],
    ['/api/tasks', { ...json, authorization: `Bearer ${ada.token}` }],
    [
      '/api/upload/image',
      { 'content-type': 'multipart/form-data; boundary=x', authorization: `Bearer ${ada.token}` },
    ],
  ]
  const answers = await Promise.all(
    doors.map(([path, headers]) =>
      sendUnfinished(
        path,
        { ...headers, 'x-forwarded-for': freshAddress() },
        { announced: 100_000, sent: 50 },
      ).answer.then(({ status, text }) => ({ path, status, isTold: text.includes('too_slow') })),
    ),
  )
  expect(answers).toEqual(doors.map(([path]) => ({ path, status: 408, isTold: true })))
})

// Holds findings 1.112.
test('security L2: a page may load from its own origin, and pictures of people from the code host alone', async () => {
  const { headers } = await fetch(`${product.base}/`)
  const policy = headers.get('content-security-policy') ?? ''
  const sourcesOf = (name: string) => new RegExp(`(?:^|; )${name} ([^;]*)`).exec(policy)?.[1]?.split(' ')
  expect(sourcesOf('connect-src')).toEqual(["'self'"])
  expect(sourcesOf('img-src')).toEqual(["'self'", 'data:', 'blob:', new URL(product.codeHostUrl).origin])
})

// Holds findings 1.114.
test('security L3: polling sessions without a sign-in are so many and no more', async () => {
  const poll = '/socket.io/?EIO=4&transport=polling'
  const statuses: number[] = []
  for (let opened = 0; opened < strangers + 20; opened += 1) statuses.push((await ask(poll)).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(strangers)
  expect(statuses.filter((status) => status === 403)).toHaveLength(20)
  // Sessions that nobody signs in on end, and make room.
  await expect.poll(async () => (await ask(poll)).status).toBe(200)
})

// Holds findings 1.115.
test('security L4: nothing of the data folder is open to others of the machine but what git keeps in its repositories and runs in workspaces', async () => {
  const open: string[] = []
  const look = async (folder: string) => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (path === join(product.dataDir, 'runner') || entry.name.endsWith('.git')) continue
      if (((await lstat(path)).mode & 0o077) !== 0) open.push(path.slice(product.dataDir.length + 1))
      if (entry.isDirectory()) await look(path)
    }
  }
  await look(product.dataDir)
  expect(open).toEqual([])
})

// Holds findings 1.66.
test('finding low: connections without a sign-in are so many and no more, and leave room for who has signed in', async () => {
  // Once the sessions of the tests before have ended.
  const live = await vi.waitFor(() => ada.socket(), { interval: 500 })
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
    await expect.poll(() => closed).toBeGreaterThanOrEqual(strangers * 2)
    expect(live.isConnected()).toBe(true)
  } finally {
    for (const connection of held) connection.destroy()
    live.close()
  }
  await expect
    .poll(() =>
      ask('/healthz').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
})
