/** The proxy forwards allowed requests byte for byte, and refuses all others, whatever name or address they use. */
import { once } from 'node:events'
import { createServer as createHttp, request, type IncomingMessage, type Server } from 'node:http'
import { connect, createServer as createTcp, isIP, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { mayConnect, ruleOf, ruleOfCodeHost, ruleOfProject, type Rule } from '#platform/http/egressRules.ts'
import { oneAtOnce, startProxy, type Proxy, type ProxyOptions, type Refusal } from './proxyServer.ts'

const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end()
})

/** A server on the loopback of this machine; its port. */
async function serve(server: Server | ReturnType<typeof createTcp>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ended.push(async () => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const inside = (host: string): Rule => ruleOf(host, { mayBeInside: true })

async function open(options: Partial<ProxyOptions>): Promise<{ proxy: Proxy; refusals: readonly Refusal[] }> {
  const refusals: Refusal[] = []
  const proxy = await startProxy({
    listen: 'loopback',
    rules: [],
    onRefusal: (refusal) => refusals.push(refusal),
    ...options,
  })
  ended.push(() => proxy.close())
  return { proxy, refusals }
}

/** A tunnel through the proxy: the status of the answer, and the socket behind it. */
async function tunnel(proxy: Proxy, destination: string): Promise<{ status: number; socket: Socket }> {
  const asking = request({ port: proxy.port, host: '127.0.0.1', method: 'CONNECT', path: destination })
  asking.end()
  const [response, socket, head]: [IncomingMessage, Socket, Buffer] = await new Promise((resolve, reject) => {
    asking.once('connect', (...answer) => resolve(answer))
    asking.once('error', reject)
  })
  if (head.length > 0) socket.unshift(head)
  ended.push(async () => socket.destroy())
  return { status: response.statusCode ?? 0, socket }
}

/** A plain request through the proxy. */
async function fetched(
  proxy: Proxy,
  address: string,
  headers = {},
): Promise<{ status: number; body: string }> {
  const asking = request({ port: proxy.port, host: '127.0.0.1', path: address, headers })
  asking.end()
  const [response]: IncomingMessage[] = await once(asking, 'response')
  return { status: response?.statusCode ?? 0, body: response ? await text(response) : '' }
}

test('a tunnel to an allowed host carries bytes both ways, and they are counted', async () => {
  const port = await serve(createTcp((client) => client.pipe(client)))
  const { proxy, refusals } = await open({ rules: [inside(`127.0.0.1:${port}`)] })
  const { status, socket } = await tunnel(proxy, `127.0.0.1:${port}`)
  expect(status).toBe(200)
  socket.end('to and fro')
  expect(await text(socket)).toBe('to and fro')
  await expect.poll(() => proxy.traffic()).toEqual({ connections: 1, sent: 10, received: 10 })
  expect(refusals).toEqual([])
})

test('a plain request reaches the host that its address names, without what is for the proxy alone', async () => {
  let heard: IncomingMessage['headers'] = {}
  const port = await serve(
    createHttp((asked, response) => {
      heard = asked.headers
      response.end(`${asked.method} ${asked.url}`)
    }),
  )
  const { proxy } = await open({ rules: [inside(`127.0.0.1:${port}`)] })
  const headers = { host: 'elsewhere', 'proxy-authorization': 'Basic eDp5', 'x-kept': 'yes' }
  const answer = await fetched(proxy, `http://127.0.0.1:${port}/a?b=c`, headers)
  expect(answer).toEqual({ status: 200, body: 'GET /a?b=c' })
  expect(heard).toMatchObject({ host: `127.0.0.1:${port}`, 'x-kept': 'yes' })
  expect(heard).not.toHaveProperty('proxy-authorization')
})

// Holds findings 1.24.
test.each([
  [
    'in pieces',
    'Transfer-Encoding: chunked',
    (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ],
  [
    'whose length is for the proxy alone',
    'Connection: content-length\r\nContent-Length: $',
    (body: string) => body,
  ],
])(
  'finding 8: what stands behind a read of git is its body, and no request of its own: one %s',
  async (_, header, framed) => {
    const heard: string[] = []
    const port = await serve(
      // As lenient as any server that may stand before the code host.
      createHttp({ insecureHTTPParser: true }, async (asked, response) => {
        heard.push(`${asked.method} ${asked.url} ${await text(asked)}`)
        response.end('fine')
      }),
    )
    const { proxy } = await open({ rules: [ruleOfCodeHost(`http://127.0.0.1:${port}/ada/engine.git`, [])] })
    const hidden = `POST /api/v3/user/repos HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n\r\n{}`
    const path = '/ada/engine.git/info/refs?service=git-upload-pack'
    const child = connect(proxy.port, '127.0.0.1')
    ended.push(async () => child.destroy())
    child.write(
      `GET http://127.0.0.1:${port}${path} HTTP/1.1\r\nHost: x\r\n${header.replace('$', String(hidden.length))}\r\n\r\n${framed(hidden)}`,
    )
    await expect.poll(() => heard.length).toBeGreaterThan(0)
    const [answer]: Buffer[] = await once(child, 'data')
    expect(answer?.toString()).toMatch(/^HTTP\/1.1 200 /)
    expect(heard).toEqual([`GET ${path} ${hidden}`])
  },
)

// Holds findings 1.23.
test('finding 8: no address of this machine is a way around the door', () => {
  const door = ruleOfCodeHost('http://127.0.0.1:8081/ada/engine.git', [])
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const led = own.filter(({ address }) => {
    const written = `${isIP(address) === 6 ? `[${address}]` : address}:8081`
    const listed = ruleOfProject(written, { mayReachPrivate: true })
    return mayConnect(address, 8081, [listed], [door, listed])
  })
  expect(led).toEqual([])
  // Another machine's, which the operator lets projects list.
  const other = ruleOfProject('10.255.255.254:8081', { mayReachPrivate: true })
  expect(mayConnect('10.255.255.254', 8081, [other], [door, other])).toBe(true)
})

test.each([
  ['a host that is not listed', 'other.example:443'],
  ['another port', 'listed.example:22'],
  ['this machine', '127.0.0.1:443'],
  ['what a cloud tells its machines', '169.254.169.254:80'],
  ['an address that nobody listed', '8.8.8.8:443'],
  ['no port', 'listed.example'],
  ['nothing', ':443'],
])('%s is refused, and told', async (_, destination) => {
  const asked: string[] = []
  const lookup = async (host: string) => {
    asked.push(host)
    return ['93.184.215.14']
  }
  const { proxy, refusals } = await open({
    rules: [ruleOf('listed.example', { mayBeInside: false })],
    lookup,
  })
  const { status } = await tunnel(proxy, destination)
  expect(status).toBe(403)
  expect(refusals).toEqual([{ destination, why: 'not_allowed' }])
  // Not even its name is looked up: a name can carry words out.
  expect(asked).toEqual([])
})

test.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1'])(
  'a listed name that leads to %s is refused',
  async (address) => {
    const { proxy, refusals } = await open({
      rules: [ruleOf('listed.example', { mayBeInside: false })],
      lookup: async () => [address],
    })
    expect((await tunnel(proxy, 'listed.example:443')).status).toBe(403)
    expect((await fetched(proxy, 'http://listed.example/')).status).toBe(403)
    expect(refusals.map(({ why }) => why)).toEqual(['inside', 'inside'])
  },
)

test('a name is looked up once, and what it leads to by then is what is connected to', async () => {
  const port = await serve(createTcp((client) => client.end('inside')))
  const answers = [['127.0.0.1'], ['10.0.0.7']]
  const { proxy } = await open({
    rules: [{ ...inside('rebinding.example'), port }],
    lookup: async () => answers.shift() ?? [],
  })
  const { status, socket } = await tunnel(proxy, `rebinding.example:${port}`)
  expect([status, await text(socket)]).toEqual([200, 'inside'])
  expect(answers).toHaveLength(1)
})

test.each([
  [['127.0.0.1']],
  [['::1']],
  [['169.254.169.254']],
  [['fd00:ec2::254']],
  [['127.0.0.1', '169.254.169.254', '::ffff:127.0.0.1']],
])(
  'a name that the operator permits on a private network is refused when it leads to %j',
  async (addresses) => {
    const listed = ruleOfProject('registry.example', {
      mayReachPrivate: false,
      privateHosts: ['registry.example'],
    })
    const { proxy, refusals } = await open({ rules: [listed], lookup: async () => addresses })
    expect((await tunnel(proxy, 'registry.example:443')).status).toBe(403)
    expect((await fetched(proxy, 'http://registry.example/')).status).toBe(403)
    expect(refusals.map(({ why }) => why)).toEqual(['inside', 'inside'])
  },
)

test('a permitted name is looked up for each connection, which goes to the addresses that were checked', async () => {
  const port = await serve(createTcp((client) => client.end('registry')))
  const permitted = { mayReachPrivate: false, privateHosts: ['registry.example'] }
  const answers = [['10.0.0.7', '127.0.0.1'], ['127.0.0.1'], ['169.254.169.254', '10.0.0.8']]
  const dialled: string[] = []
  const { proxy, refusals } = await open({
    rules: [ruleOfProject('registry.example', permitted)],
    lookup: async () => answers.shift() ?? [],
    async dial(address) {
      dialled.push(address)
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    },
  })
  const statuses: number[] = []
  for (let tries = 0; tries < 3; tries += 1)
    statuses.push((await tunnel(proxy, 'registry.example:443')).status)
  expect(statuses).toEqual([200, 403, 200])
  expect(dialled).toEqual(['10.0.0.7', '10.0.0.8'])
  expect(refusals.map(({ why }) => why)).toEqual(['inside'])
})

test('of several addresses only those are tried that may be', async () => {
  const port = await serve(createTcp((client) => client.end('here')))
  const { proxy } = await open({
    rules: [{ ...ruleOf('many.example', { mayBeInside: false }), port }, inside(`127.0.0.1:${port}`)],
    lookup: async () => ['169.254.169.254', '10.0.0.7', '127.0.0.1'],
  })
  const { status, socket } = await tunnel(proxy, `many.example:${port}`)
  expect([status, await text(socket)]).toEqual([200, 'here'])
})

test('a program that is refused again and again gets no answer any more, until it reaches something', async () => {
  const port = await serve(createTcp((client) => client.pipe(client)))
  const { proxy, refusals } = await open({ rules: [inside(`127.0.0.1:${port}`)], answeredRefusals: 2 })
  const refused = () => tunnel(proxy, 'other.example:443').then(({ status }) => status)
  expect([await refused(), await refused()]).toEqual([403, 403])
  await expect(refused()).rejects.toThrow('socket hang up')
  expect((await tunnel(proxy, `127.0.0.1:${port}`)).status).toBe(200)
  expect(await refused()).toBe(403)
  expect(refusals).toHaveLength(4)
})

test('an allowed host that does not answer is told as such', async () => {
  const { proxy, refusals } = await open({
    rules: [ruleOf('gone.example', { mayBeInside: false })],
    lookup: async () => [],
  })
  expect((await tunnel(proxy, 'gone.example:443')).status).toBe(403)
  expect(refusals).toEqual([{ destination: 'gone.example:443', why: 'unreachable' }])
})

test('what is told of a destination is short', async () => {
  const { proxy, refusals } = await open({})
  const socket = connect(proxy.port, '127.0.0.1')
  ended.push(async () => socket.destroy())
  socket.write(`CONNECT ${'x'.repeat(5_000)}:443 HTTP/1.1\r\nHost: a\r\n\r\n`)
  await expect.poll(() => refusals.length).toBe(1)
  expect(refusals[0]?.destination).toMatch(/^[\x21-\x7e]{1,200}$/)
})

test.each([
  ['a head that is too long', `CONNECT a:443 HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['what is no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['a request that names no host', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['another scheme', 'GET ftp://listed.example/ HTTP/1.1\r\nHost: a\r\n\r\n'],
])('%s is answered with a 4xx', async (_, head) => {
  const { proxy } = await open({ rules: [ruleOf('listed.example', { mayBeInside: false })] })
  const socket = connect(proxy.port, '127.0.0.1')
  ended.push(async () => socket.destroy())
  socket.write(head)
  const [answer]: Buffer[] = await once(socket, 'data')
  expect(answer?.toString()).toMatch(/^HTTP\/1\.1 4\d\d /)
})

test('a connection without a byte ends, and only so many are taken at once', async () => {
  const port = await serve(createTcp(() => undefined))
  const { proxy } = await open({ rules: [inside(`127.0.0.1:${port}`)], idleMs: 50, connections: 1 })
  const { socket } = await tunnel(proxy, `127.0.0.1:${port}`)
  const isOver = once(socket, 'close')
  const second = connect(proxy.port, '127.0.0.1')
  await once(second, 'close')
  await isOver
  expect((await tunnel(proxy, `127.0.0.1:${port}`)).status).toBe(200)
})

/** Sends a plain request, without waiting for the answer. */
function begun(proxy: Proxy, address: string): Socket {
  const client = connect(proxy.port, '127.0.0.1')
  ended.push(async () => client.destroy())
  client.write(`GET ${address} HTTP/1.1\r\nHost: a\r\n\r\n`)
  return client
}
async function left(client: Socket): Promise<void> {
  client.destroy()
  await once(client, 'close')
}

test('what is begun for clients that have left counts as well', async () => {
  let dialled = 0
  const { proxy, refusals } = await open({
    rules: [ruleOf('slow.example', { mayBeInside: false })],
    lookup: async () => ['93.184.215.14'],
    dial: () => new Promise(() => void (dialled += 1)),
    connections: 2,
  })
  for (let clients = 1; clients <= 2; clients += 1) {
    const client = begun(proxy, 'http://slow.example/')
    await expect.poll(() => dialled).toBe(clients)
    await left(client)
  }
  expect(await fetched(proxy, 'http://slow.example/')).toMatchObject({ status: 403 })
  expect(refusals).toEqual([{ destination: 'slow.example', why: 'too_many' }])
})

test('what is reached for a client that has left is closed', async () => {
  const port = await serve(createTcp(() => undefined))
  const reached: ((socket: Socket) => void)[] = []
  const { proxy } = await open({
    rules: [ruleOf('slow.example', { mayBeInside: false })],
    lookup: async () => ['93.184.215.14'],
    dial: () => new Promise((resolve) => void reached.push(resolve)),
  })
  const client = begun(proxy, 'http://slow.example/')
  await expect.poll(() => reached.length).toBe(1)
  await left(client)
  // By the time of this answer, the proxy knows that the client has left.
  await fetched(proxy, 'http://other.example/')
  const upstream = connect(port, '127.0.0.1')
  await once(upstream, 'connect')
  for (const give of reached) give(upstream)
  await once(upstream, 'close')
})

test('a sandbox has one look-up at once, and one for each host', async () => {
  const lookedUp: string[] = []
  const found: (() => void)[] = []
  const { proxy } = await open({
    rules: [ruleOf('*.example', { mayBeInside: false })],
    lookup(host) {
      lookedUp.push(host)
      return new Promise((resolve) => found.push(() => resolve([])))
    },
  })
  for (const name of ['a', 'a', 'b', 'c']) begun(proxy, `http://${name}.example/`)
  await expect.poll(() => lookedUp.length).toBeGreaterThanOrEqual(1)
  expect(await fetched(proxy, 'http://other/')).toMatchObject({ status: 403 })
  expect(lookedUp.length).toBe(1)
  found[0]?.()
  await expect.poll(() => lookedUp.length).toBe(2)
  expect(new Set(lookedUp).size).toBe(2)
})

// Attacks name look-ups: a sandbox asks for slow names without end, and each takes a thread of the whole server.
test('sandboxes take turns with their look-ups, of which one runs at once', async () => {
  const lookedUp: string[] = []
  const found: (() => void)[] = []
  const lookup = oneAtOnce((host) => {
    lookedUp.push(host)
    return new Promise((resolve) => found.push(() => resolve([])))
  })
  const options = { rules: [ruleOf('*.example', { mayBeInside: false })], lookup }
  const [busy, other] = [await open(options), await open(options)]
  const begin = async (of: Proxy, name: string) => {
    begun(of, `http://${name}.example/`)
    // When this is refused, the request before it has its place.
    await fetched(of, 'http://other/')
  }
  for (const name of ['a', 'b', 'c']) await begin(busy.proxy, name)
  await begin(other.proxy, 'd')
  expect(lookedUp).toEqual(['a.example'])
  for (const [index, names] of [
    ['a', 'd'],
    ['a', 'd', 'b'],
  ].entries()) {
    found[index]?.()
    await expect.poll(() => lookedUp).toEqual(names.map((name) => `${name}.example`))
  }
})

test('a slow name ends in time, and takes none of the time of those that wait for it', async () => {
  let end = (): void => undefined
  const lookup = oneAtOnce(
    (host) =>
      host === 'slow.example'
        ? new Promise((resolve) => void (end = () => resolve([])))
        : Promise.resolve(['127.0.0.1']),
    1,
  )
  const port = await serve(createTcp((client) => client.end('here')))
  const options = {
    rules: [ruleOf('slow.example', { mayBeInside: false }), inside(`fast.example:${port}`)],
    lookup,
  }
  const [slow, fast] = [await open(options), await open(options)]
  const waiting = fetched(slow.proxy, 'http://slow.example/')
  // When this is refused, the request before it has its place.
  await fetched(slow.proxy, 'http://other/')
  const following = tunnel(fast.proxy, `fast.example:${port}`)
  expect((await waiting).body).toContain('slow.example is not reached. Its address was not found in time.')
  end()
  expect((await following).status).toBe(200)
})

test('when it closes, so does what is under way', async () => {
  const port = await serve(createTcp(() => undefined))
  const { proxy } = await open({ rules: [inside(`127.0.0.1:${port}`)] })
  const { socket } = await tunnel(proxy, `127.0.0.1:${port}`)
  await Promise.all([once(socket, 'close'), proxy.close()])
  expect(proxy.traffic().connections).toBe(1)
})

// Holds findings 1.21.
test('finding 8: of the local code host a sandbox reaches git’s reads alone, as a stranger', async () => {
  const asked: string[] = []
  const port = await serve(
    createHttp((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'nobody'}`)
      response.end('refs')
    }),
  )
  const { proxy, refusals } = await open({
    rules: [ruleOfCodeHost(`http://localhost:${port}/ada/engine.git`, [])],
  })
  const at = `http://localhost:${port}`
  const refs = `${at}/ada/engine.git/info/refs?service=git-upload-pack`
  expect(await fetched(proxy, refs, { authorization: 'Bearer x' })).toMatchObject({ status: 200 })
  const refused = [
    `${at}/`,
    `${at}/login/oauth/authorize?client_id=x`,
    `${at}/api/v3/user`,
    `${at}/ada/engine/pull/1`,
    `${at}/ada/engine.git/info/refs?service=git-receive-pack`,
    `${at}/ada/engine.git/info/refs?service=git-upload-pack&service=git-receive-pack`,
    `${at}/x/../api/v3/user`,
    `http://127.0.0.1:${port}/api/v3/user`,
  ]
  for (const address of refused) expect(await fetched(proxy, address)).toMatchObject({ status: 403 })
  // A tunnel leads to the same look at each request.
  const within = async (path: string): Promise<string> => {
    const { status, socket } = await tunnel(proxy, `localhost:${port}`)
    expect(status).toBe(200)
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer x\r\nconnection: close\r\n\r\n`,
    )
    return text(socket)
  }
  expect(await within('/ada/engine.git/info/refs?service=git-upload-pack')).toMatch(/^HTTP\/1.1 200 .*refs/s)
  for (const path of ['/', '//api/v3/user', '/api/v3/user', `http://localhost:${port}/api/v3/user`])
    expect(await within(path)).toMatch(/^HTTP\/1.1 40[03] /)
  const seen = 'GET /ada/engine.git/info/refs?service=git-upload-pack nobody'
  expect(asked).toEqual([seen, seen])
  expect(refusals).toHaveLength(refused.length + 3)
})

test('finding 8: of its repositories a sandbox reads its own and those that the project lists', async () => {
  const asked: string[] = []
  const port = await serve(
    createHttp((request, response) => {
      asked.push(request.url ?? '')
      response.end('refs')
    }),
  )
  const rules = [ruleOfCodeHost(`http://localhost:${port}/Ada/engine.git`, ['acme/listed'])]
  const { proxy, refusals } = await open({ rules })
  const refs = (repository: string) =>
    `http://localhost:${port}/${repository}/info/refs?service=git-upload-pack`
  const read = ['ada/engine.git', 'Ada/Engine', 'acme/listed.git']
  for (const one of read) expect(await fetched(proxy, refs(one))).toMatchObject({ status: 200 })
  const others = ['acme/other.git', 'acme/listed.git.git', 'acme/listed%2egit', 'ada/engine2']
  for (const one of others) expect(await fetched(proxy, refs(one))).toMatchObject({ status: 403 })
  expect(asked).toHaveLength(read.length)
  expect(refusals[0]).toEqual({ destination: `localhost:${port}/acme/other`, why: 'other_repository' })
})

// Holds findings 1.25.
test.each([
  ['its own', (port: number) => `localhost:${port}`],
  ['another', (port: number) => `elsewhere.example:${port}`],
  ['its number', (port: number) => `127.0.0.2:${port}`],
  ['its number in another', (port: number) => `[::ffff:127.0.0.1]:${port}`],
])('finding 8: a project that lists the local code host by %s name gets no more of it', async (_, listed) => {
  const asked: string[] = []
  const port = await serve(
    createHttp((request, response) => {
      asked.push(request.url ?? '')
      response.end('a session')
    }),
  )
  const { proxy } = await open({
    rules: [
      ruleOfCodeHost(`http://localhost:${port}/ada/engine.git`, []),
      ruleOfProject(listed(port), { mayReachPrivate: true }),
    ],
    lookup: async () => ['127.0.0.1'],
  })
  const { status, socket } = await tunnel(proxy, listed(port))
  socket.end(`GET /api/v3/user HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n\r\n`)
  const answered = await text(socket)
  expect(status === 403 || answered.startsWith('HTTP/1.1 403 ')).toBe(true)
  expect(await fetched(proxy, `http://${listed(port)}/api/v3/user`)).toMatchObject({ status: 403 })
  expect(asked).toEqual([])
})
