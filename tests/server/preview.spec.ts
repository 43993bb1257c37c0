/** A red team's table for previews of a real sandbox: who may see one, and what its app can reach. The rest is beside `previews.ts`. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { logout } from '#domain/api/auth.schema.ts'
import { listPorts, openPort } from '#domain/api/preview.schema.ts'
import { cancelTask, deleteTask } from '#domain/api/tasks.schema.ts'
import type { Person } from '../product/person.ts'
import { eventually } from './engines.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

/** An app that tells what it was sent, and echoes on WebSockets whatever follows the handshake. */
const app = `
const { createHash } = require('node:crypto')
const server = require('node:http').createServer((request, response) => {
  if (request.url.startsWith('/to?')) return response.writeHead(302, { location: decodeURIComponent(request.url.slice(4)) }).end()
  response.setHeader('set-cookie', ['app=1; Domain=localhost', 'flightdeck_link=stolen', 'flightdeck_sign_in=stolen'])
  response.end(JSON.stringify({ url: request.url, headers: request.headers }))
})
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
})
server.listen(5173, '127.0.0.1')
`
const command = `cat > app.cjs <<'END'\n${app}\nEND\nexec node app.cjs`
const serving = { name: 'Bash', input: { command, description: 'Serve', timeout: 600_000 } }

let scene: Scene
let ada: Person
let taskId: string
let otherTaskId: string
let port: number

beforeAll(async () => {
  scene = await openScene([{ when: /Serve/, turns: [{ tools: [serving] }] }])
  ada = scene.ada
  port = Number(new URL(scene.product.base).port)
  const tasks = await Promise.all(['Serve', 'Serve too'].map((words) => ada.task(scene.projectId, words)))
  ;[taskId = '', otherTaskId = ''] = tasks.map(({ id }) => id)
  for (const { id } of tasks)
    await eventually('the app listens', async () => (await portsOf(id)).some((one) => one.port === 5173))
})
afterAll(() => scene?.close())

const portsOf = async (id: string) => (await ada.ask(listPorts, { params: { taskId: id } })).ports
/** The address for opening a preview. */
const opening = async (person = ada, id = taskId) =>
  new URL((await person.ask(openPort, { params: { taskId: id, port: '5173' } })).url)

interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
/** A request to the product's port under any host name, as a browser makes it for names below `localhost`. */
function get(host: string, path: string, headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, headers: { ...headers, host }, agent: false })
    sent.on('error', reject)
    sent.on('response', (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      )
    })
    sent.end()
  })
}
/** Opens a preview; its host, and the cookie of the browser. */
async function opened(person = ada, id = taskId) {
  const { host, pathname, search } = await opening(person, id)
  const { status, headers } = await get(host, pathname + search)
  expect(status).toBe(303)
  return { host, cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '' }
}
async function socketOf({ host, cookie }: { readonly host: string; readonly cookie: string }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, {
    headers: { host, cookie, origin: `http://${host}` },
  })
  socket.on('error', () => undefined)
  await once(socket, 'open')
  return socket
}

describe('a preview', () => {
  test('is an address of its own, whose ticket works once', async () => {
    expect(await portsOf(taskId)).toContainEqual({
      port: 5173,
      process: expect.stringMatching(/^(node|MainThread)/),
    })
    const { host, pathname, search } = await opening()
    expect(host).toBe(`${taskId}-5173.localhost:${port}`)
    const first = await get(host, pathname + search)
    expect(first).toMatchObject({ status: 303, headers: { location: '/' } })
    expect(await get(host, pathname + search)).toMatchObject({ status: 401 })
    const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const got = await get(host, '/page?a=1', { cookie: `${cookie}; flightdeck_link=secret; app=1` })
    const seen: unknown = JSON.parse(got.body)
    expect(seen).toMatchObject({ url: '/page?a=1', headers: { host: 'localhost:5173', cookie: 'app=1' } })
    expect(got.headers['set-cookie']).toEqual(['app=1'])
    expect(scene.product.logs.stderr + scene.product.logs.stdout).not.toContain('ticket=')
  })

  // Attacks preview: a real app prints the headers that it gets, to find a token.
  test('gets no token of the product', async () => {
    const { host, cookie } = await opened()
    const got = await get(host, '/', { cookie, authorization: `Bearer ${ada.token}` })
    expect(got.body).not.toContain(ada.token)
    expect(got.body).not.toContain('authorization')
  })

  // Attacks preview: the product's own paths below the preview's name.
  test('has every path of its name, also those of the product', async () => {
    const { host, cookie } = await opened()
    for (const path of ['/api/auth/me', '/socket.io/?EIO=4&transport=polling', '/readyz', '/metrics'])
      expect(JSON.parse((await get(host, path, { cookie })).body)).toMatchObject({ url: path })
  })

  test('may redirect to the product, which is not followed', async () => {
    const { host, cookie } = await opened()
    const location = `${scene.product.base}/api/tasks`
    const got = await get(host, `/to?${encodeURIComponent(location)}`, { cookie })
    expect(got).toMatchObject({ status: 302, headers: { location }, body: '' })
  })
})

describe('who is refused', () => {
  // Attacks preview: no ticket, or one that is signed with no algorithm.
  test.each(['', '?ticket=', '?ticket=eyJhbGciOiJub25lIn0.e30.'])(
    'nobody opens it with the ticket %j',
    async (query) => {
      const { host, pathname } = await opening()
      expect(await get(host, pathname + query)).toMatchObject({ status: 401 })
    },
  )

  // Attacks preview: another person lists or opens the ports of a task.
  test('another person neither lists nor opens ports', async () => {
    const grace = await scene.product.signIn('grace')
    for (const call of [listPorts, openPort])
      expect(await grace.refused(call, { params: { taskId, port: '5173' } })).toMatchObject({ status: 404 })
  })

  // Attacks preview: a ticket for one task opens another one.
  test('a ticket or cookie of another task or port', async () => {
    const { pathname, search } = await opening()
    const { cookie } = await opened()
    for (const host of [`${otherTaskId}-5173.localhost:${port}`, `${taskId}-5174.localhost:${port}`]) {
      expect(await get(host, pathname + search)).toMatchObject({ status: 401 })
      expect(await get(host, '/', { cookie })).toMatchObject({ status: 401 })
    }
  })

  // Attacks preview: the ports of the broker's and the proxy's relays are opened.
  test("the ports of the product's own relays are neither listed nor opened", async () => {
    expect((await portsOf(taskId)).map((one) => one.port)).toEqual([5173])
    const codeHost = new URL(scene.product.codeHostUrl).port
    for (const relay of ['31280', '31281', codeHost, String(port)])
      expect(await ada.refused(openPort, { params: { taskId, port: relay } })).toMatchObject({
        status: 404,
        error: `Nothing listens on port ${relay} in the sandbox of this task.`,
      })
    for (const wrong of ['0', '65536', '5173.5', 'ssh'])
      expect(await ada.refused(openPort, { params: { taskId, port: wrong } })).toMatchObject({ status: 400 })
  })

  // Attacks preview: a foreign host name with the cookie of a preview.
  test.each(['evil.example', 'localhost.evil.example', 'evil-localhost'])('a host named %s', async (name) => {
    const { cookie } = await opened()
    for (const host of [name, `${taskId}-5173.${name}`])
      expect(await get(host, '/', { cookie })).toMatchObject({ status: 421 })
  })

  test('a WebSocket without a cookie, or of the page of another origin', async () => {
    const { host, cookie } = await opened()
    for (const [headers, status] of [
      [{ host }, 401],
      [{ host, cookie, origin: scene.product.base }, 403],
    ] as const) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers })
      socket.on('error', () => undefined)
      const [, refused] = await once(socket, 'unexpected-response')
      expect(refused.statusCode).toBe(status)
    }
  })

  // Attacks preview: the preview's page asks the product's API and its live socket.
  test("the preview's page at the product: it reads nothing, and its socket stays closed", async () => {
    const { host } = await opened()
    const origin = `http://${host}`
    const own = new URL(scene.product.base).host
    const read = await get(own, '/api/tasks', { origin })
    expect(read).toMatchObject({ status: 401 })
    expect(Object.keys(read.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    expect(read.headers).toMatchObject({ 'x-frame-options': 'DENY' })
    expect(await get(own, '/socket.io/?EIO=4&transport=polling', { origin })).toMatchObject({ status: 403 })
  })
})

describe('it ends', () => {
  test('when its person signs out, with what is open', async () => {
    const leaving = await scene.product.signIn('ada')
    const preview = await opened(leaving)
    const staying = await opened()
    const closed = once(await socketOf(preview), 'close')
    await leaving.ask(logout)
    await closed
    expect(await get(preview.host, '/', { cookie: preview.cookie })).toMatchObject({ status: 401 })
    expect(await get(staying.host, '/', { cookie: staying.cookie })).toMatchObject({ status: 200 })
  })

  // Attacks preview: the app of a deleted task goes on.
  test('when its task is deleted', async () => {
    const preview = await opened(ada, otherTaskId)
    const closed = once(await socketOf(preview), 'close')
    await ada.ask(deleteTask, { params: { taskId: otherTaskId } })
    await closed
    expect(await get(preview.host, '/', { cookie: preview.cookie })).toMatchObject({ status: 404 })
    expect(await ada.refused(listPorts, { params: { taskId: otherTaskId } })).toMatchObject({ status: 404 })
  })

  test('with its sandbox', async () => {
    const preview = await opened()
    const closed = once(await socketOf(preview), 'close')
    const { pathname, search } = await opening()
    await ada.ask(cancelTask, { params: { taskId } })
    await closed
    await ada.taskOnce(taskId, hasEnded)
    const sentence = 'The sandbox of this task has ended. Send a message to the task to start it again.'
    for (const path of ['/', pathname + search]) {
      const got = await get(preview.host, path, { cookie: preview.cookie })
      expect(got).toMatchObject({ status: 409, body: expect.stringContaining(sentence) })
    }
    expect(await ada.ask(listPorts, { params: { taskId } })).toEqual({
      ports: [],
      running: false,
      unavailable: null,
    })
    expect(await ada.refused(openPort, { params: { taskId, port: '5173' } })).toMatchObject({
      code: 'not_running',
      error: sentence,
    })
  })
})
