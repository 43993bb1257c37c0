/** Limits on sockets, with real connections: a client that is slow or requests too much is disconnected, and affects nobody else. */
import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import { connect as connectTo, type Socket as Connection } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { io, type Socket } from 'socket.io-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ClientEvents, JoinAnswer, ServerEvents } from '#domain/api/socket.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import { TaskCreated, ToolFinished } from '#domain/task/events.ts'
import { SessionEnded, UserRegistered } from '#domain/user/events.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { documents, type Documents } from '#platform/reads/documents.ts'
import { logger } from '#platform/log.ts'
import type { Emit } from '#platform/telemetry/telemetry.ts'
import { executionId, projectId, sessionId, taskId, userId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import { cause, openAccess, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { limitStrangers } from '../http/limits.ts'
import type { Feed, Viewer } from './feed.ts'
import { openSocket } from './socket.ts'

let engines: TestEngines
let http: HttpServer
let connections: Set<Connection>
let url = ''
let server: ReturnType<typeof openSocket>
let clients: Socket<ServerEvents, ClientEvents>[] = []
/** The viewers in each room, by task id, as the feed knows them. */
let rooms: Map<string, Set<Viewer>>
let followers: Set<Viewer>
/** Joins wait until this promise resolves. */
let gate: Promise<void>
let asked: number
/** Brings a document up to date from the log. */
let now: Documents['now']
let mayConnect: () => Promise<void>
let checkAccess: () => Promise<void>
/** When the sessions expire, in milliseconds since 1970. */
let endsAt: number
let rpc: ReturnType<typeof openInProcessRpc>
const emit = vi.fn<Emit>()

beforeEach(async () => {
  engines = await openTestEngines()
  rooms = new Map()
  followers = new Set()
  gate = Promise.resolve()
  asked = 0
  const reads = documents(engines.readStore, engines.log)
  now = reads.now
  mayConnect = async () => undefined
  checkAccess = async () => undefined
  endsAt = Date.now() + 86_400_000
  emit.mockClear()
  rpc = openInProcessRpc({ onFault: () => undefined })
  const tasks = Array.from({ length: 60 }, (_, n) => ({ id: taskId(n), owner: userId(1) }))
  const user = { id: userId(1), onboardingCompleted: true, endedSessions: [] }
  const put = (collection: string, document: { id: string }) =>
    ({ kind: 'put', collection, document, position: '1' }) as const
  await engines.readStore.apply(
    [put('users', user), ...tasks.map((task) => put('tasks', task)), put('tasks', { id: taskId(99) })],
    { projection: 'test', position: '1' },
  )
  const feed: Feed = {
    async join(task, viewer) {
      asked += 1
      await gate
      rooms.set(task, (rooms.get(task) ?? new Set()).add(viewer))
      return { resync: false, position: '1' }
    },
    leave: (task, viewer) => void rooms.get(task)?.delete(viewer),
    follow: (_, viewer) => void followers.add(viewer),
    unfollow: (_, viewer) => void followers.delete(viewer),
    present: () => ({ userIds: [], taskIds: [] }),
    stop: async () => undefined,
  }
  const verify = async (token: string) =>
    token === 'good' ? { userId: userId(1), sessionId: sessionId(1), endsAt } : undefined
  const unused = () => Promise.reject(new Error('The socket does not ask this.'))
  http = createServer()
  connections = new Set()
  http.on('connection', (connection) => connections.add(connection))
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  server = openSocket(http, feed, {
    sessions: {
      verify,
      token: unused,
      begin: () => ({ sessionId: '', startsAt: '', expiresAt: '', client: null }),
    },
    accessControl: { ...openAccess, isOpen: false, check: () => checkAccess() },
    documents: { ...reads, now: (view, stream, id) => now(view, stream, id) },
    logger: logger('silent'),
    emit,
    rpc,
    vault: { seal: async (_scope, _place, text) => text },
    mayConnect: () => mayConnect(),
    mayOpen: () => true,
    known: () => undefined,
    socketsOfPerson: 5,
    strangers: limitStrangers({ ofAddress: 500, isProxied: false }),
    onPresence: () => undefined,
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const address = http.address()
  url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
})
afterEach(async () => {
  for (const client of clients) client.close()
  clients = []
  // A client that does not read never confirms that the connection is closed.
  for (const connection of connections) connection.destroy()
  await new Promise<void>((resolve) => void server.close(() => resolve()))
  vi.useRealTimers()
  await engines.close()
})

async function connect(token = 'good'): Promise<Socket<ServerEvents, ClientEvents>> {
  const client: Socket<ServerEvents, ClientEvents> = io(url, {
    auth: { token },
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
  })
  clients.push(client)
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve())
    client.once('connect_error', reject)
  })
  return client
}
const join = (client: Socket<ServerEvents, ClientEvents>, id: string) =>
  new Promise<JoinAnswer>((resolve) => client.emit('join_task', id, null, resolve))
const onlyViewer = (id: string): Viewer => {
  const [viewer] = rooms.get(id) ?? []
  if (!viewer) throw new Error('Nobody is in the room.')
  return viewer
}
const piece = (content: string) =>
  [
    'terminal_output',
    {
      taskId: taskId(1),
      timestamp: '',
      content,
      type: 'stdout',
      executionId: '',
      position: '2',
      version: 1,
      commandId: '',
    },
  ] as const

describe('a connection', () => {
  test('is for who has a session, and follows what is theirs until it goes', async () => {
    await expect(connect('bad')).rejects.toThrow('Sign in to continue.')
    const client = await connect()
    expect(followers.size).toBe(1)
    await join(client, taskId(1))
    client.close()
    await vi.waitFor(() => expect([followers.size, rooms.get(taskId(1))?.size]).toEqual([0, 0]))
  })

  test('is refused to who has not completed the onboarding, in words that say so', async () => {
    const user = { id: userId(1), onboardingCompleted: false, endedSessions: [] }
    await engines.readStore.apply([{ kind: 'put', collection: 'users', document: user, position: '2' }], {
      projection: 'test',
      position: '2',
    })
    await expect(connect()).rejects.toThrow('Complete onboarding first.')
  })

  test('is cut off when its session ends, and only then', async () => {
    const client = await connect()
    const [viewer] = followers
    viewer?.sessionEnded('another session')
    await join(client, taskId(1))
    expect(client.connected).toBe(true)
    viewer?.sessionEnded(sessionId(1))
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('is cut off when its session expires', async () => {
    endsAt = Date.now() + 100
    const client = await connect()
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('is cut off when its session had ended, which only the log knows yet', async () => {
    const ended = [
      UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null }),
      SessionEnded.of({ sessionId: sessionId(1) }),
    ]
    await engines.log.append(userStream(userId(1)), emptyHead, ended, cause())
    const client = await connect()
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('is cut off when the log cannot be read, so that the client tries again', async () => {
    now = () => Promise.reject(new Error('The log does not answer.'))
    const client = await connect()
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('stays connected while the log is unavailable, and is checked later', async () => {
    let end = () => {}
    const isOver = new Promise<undefined>((resolve) => (end = () => resolve(undefined)))
    let checks = 0
    now = () => {
      checks += 1
      return checks > 1 ? isOver : Promise.reject(new EngineUnavailable('EventStoreDB'))
    }
    const client = await connect()
    await vi.waitFor(() => expect(checks).toBe(1))
    await pause(50)
    expect(client.connected).toBe(true)
    await vi.waitFor(() => expect(checks).toBe(2))
    end()
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('does not wait for the log', async () => {
    now = () => new Promise(() => {})
    expect(await join(await connect(), taskId(1))).toMatchObject({ joined: true })
  })

  test('may leave the position out, give only a callback, or give nothing that is understood', async () => {
    const client = await connect()
    const answer = await new Promise<unknown>((resolve) =>
      Reflect.apply(client.emit, client, ['join_task', taskId(1), resolve]),
    )
    expect(answer).toEqual({ joined: true, resync: false, position: '1' })
    for (const asked of [[], [7], [{}], [taskId(1), 'no position'], [null, null]]) {
      const refused = await new Promise<unknown>((resolve) =>
        Reflect.apply(client.emit, client, ['join_task', asked[0], asked[1], resolve]),
      )
      expect(refused).toMatchObject({ joined: false, code: 'invalid_input' })
    }
    Reflect.apply(client.emit, client, ['leave_task', { no: 'id' }])
    expect(await join(client, taskId(99))).toMatchObject({ joined: false, code: 'not_found' })
    expect(client.connected).toBe(true)
  })
})

describe('rooms', () => {
  test('are at most fifty at once for a connection', async () => {
    const client = await connect()
    const answers = []
    for (let n = 0; n < 51; n += 1) answers.push(await join(client, taskId(n)))
    expect(answers.filter(({ joined }) => joined)).toHaveLength(50)
    expect(answers.at(-1)).toMatchObject({ joined: false, code: 'rate_limited' })
    // A client may join a room that it is already in, and may join a new room after leaving another.
    expect(await join(client, taskId(3))).toMatchObject({ joined: true })
    client.emit('leave_task', taskId(3))
    expect(await join(client, taskId(50))).toMatchObject({ joined: true })
  })

  describe('of tasks that only the log knows', () => {
    const created = (n: number, owner: number) =>
      engines.log.append(
        taskStream(taskId(n)),
        emptyHead,
        [
          TaskCreated.of(
            { taskId: taskId(n), ownerId: userId(owner), projectId: projectId(1), agent: 'claude' },
            { title: 't', description: 'd', branch: 'main', codexModel: null },
          ),
        ],
        cause(),
      )

    test('are for their owner, right after the creation', async () => {
      await created(70, 1)
      await created(71, 2)
      const client = await connect()
      expect(await join(client, taskId(70))).toMatchObject({ joined: true })
      for (const n of [71, 72])
        expect(await join(client, taskId(n))).toMatchObject({ joined: false, code: 'not_found' })
    })

    test('are looked for as often as a person may ask', async () => {
      const client = await connect()
      mayConnect = () => Promise.reject(new Fault('rate_limited'))
      let looked = 0
      now = async () => {
        looked += 1
        return undefined
      }
      expect(await join(client, taskId(70))).toMatchObject({ joined: false, code: 'rate_limited' })
      expect(await join(client, taskId(99))).toMatchObject({ joined: false, code: 'not_found' })
      expect(await join(client, taskId(1))).toMatchObject({ joined: true })
      expect(looked).toBe(0)
    })
  })

  test('are left by who leaves while it joins', async () => {
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const client = await connect()
    const joining = join(client, taskId(1))
    client.emit('leave_task', taskId(1))
    open()
    expect(await joining).toMatchObject({ joined: true })
    await vi.waitFor(() => expect(rooms.get(taskId(1))?.size).toBe(0))
  })

  test('keep nobody who was gone before the join came back', async () => {
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const client = await connect()
    client.emit('join_task', taskId(1), null)
    client.emit('join_task', taskId(2), null)
    await vi.waitFor(() => expect(asked).toBe(1))
    client.close()
    await vi.waitFor(() => expect(followers.size).toBe(0))
    open()
    await vi.waitFor(() => expect(rooms.has(taskId(2))).toBe(true))
    await vi.waitFor(() => expect([...rooms.values()].map(({ size }) => size)).toEqual([0, 0]))
  })
})

describe('a shell', () => {
  const size = { rows: 24, columns: 80 }
  const shellId = executionId(1)
  /** Asks for something of a shell, whatever it is. */
  const ask = (client: Socket<ServerEvents, ClientEvents>, ...words: readonly unknown[]) =>
    new Promise<unknown>((resolve) => Reflect.apply(client.emit, client, [...words, resolve]))
  /** What reaches the runner. */
  function shellsOfRunner(ready: Promise<void> = Promise.resolve()): unknown[] {
    const reached: unknown[] = []
    rpc.handle('openShell', async ({ taskId: id }) => {
      reached.push('open')
      await ready
      if (id === taskId(2))
        return {
          kind: 'refused',
          code: 'no_repository_access',
          sentence: 'The code host lets you in no more.',
        }
      return { kind: 'opened', shellId, shared: true }
    })
    rpc.handle('useShell', async ({ use }) => {
      reached.push(use.kind === 'input' ? Buffer.from(use.sealed, 'base64').toString() : use.kind)
      return { taken: true }
    })
    return reached
  }

  // Attacks shell: another person's shell is opened, typed into, resized or closed.
  test("of somebody else's task is refused, and what is typed there reaches nothing", async () => {
    const reached = shellsOfRunner()
    const client = await connect()
    for (const id of [taskId(99), taskId(98)])
      expect(await ask(client, 'shell_open', id, size)).toEqual({
        opened: false,
        code: 'not_found',
        error: 'There is no such task.',
      })
    expect(await ask(client, 'shell_input', taskId(99), shellId, 'ls\r')).toBe('gone')
    expect(await ask(client, 'shell_resize', taskId(99), shellId, size)).toBe('gone')
    expect(await ask(client, 'shell_close', taskId(99), shellId)).toBe('gone')
    expect(reached).toEqual([])
  })

  // Attacks shell: somebody who has lost the access to the repository opens a shell.
  test('is refused in the words of the runner to who may not work with the repository', async () => {
    shellsOfRunner()
    expect(await ask(await connect(), 'shell_open', taskId(2), size)).toEqual({
      opened: false,
      code: 'no_repository_access',
      error: 'The code host lets you in no more.',
    })
  })

  // Attacks shell: sizes too small or too large or of another type, long or empty input, an id that is a path.
  test('has no absurd size and gets no absurd input', async () => {
    const reached = shellsOfRunner()
    const client = await connect()
    const sizes = [null, {}, { rows: 0, columns: 80 }, { rows: 24, columns: 501 }, { rows: 2.5, columns: 80 }]
    for (const absurd of [...sizes, { rows: '24', columns: 80 }, { ...size, depth: 3 }]) {
      expect(await ask(client, 'shell_open', taskId(1), absurd)).toMatchObject({ code: 'invalid_input' })
      expect(await ask(client, 'shell_resize', taskId(1), shellId, absurd)).toBe('invalid_input')
    }
    for (const absurd of ['', 'x'.repeat(8_193), 7, null, { text: 'ls' }])
      expect(await ask(client, 'shell_input', taskId(1), shellId, absurd)).toBe('invalid_input')
    for (const absurd of ['../../etc', '', 7, null])
      expect(await ask(client, 'shell_input', taskId(1), absurd, 'ls\r')).toBe('invalid_input')
    expect(reached).toEqual([])
    expect(await ask(client, 'shell_input', taskId(1), shellId, 'ls\r')).toBe('taken')
    expect(reached).toEqual(['ls\r'])
  })

  // Attacks shell: somebody types on after the person has signed out.
  test('is closed when the person who has it open signs out', async () => {
    const reached = shellsOfRunner()
    const client = await connect()
    const [viewer] = followers
    await ask(client, 'shell_open', taskId(1), size)
    viewer?.sessionEnded(sessionId(1))
    await vi.waitFor(() => expect(reached).toEqual(['open', 'close']))
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  // Attacks shell: a shell is asked for just before the person signs out.
  test('that is being opened when the person signs out is closed too', async () => {
    let release: () => void = () => undefined
    const reached = shellsOfRunner(new Promise((resolve) => (release = resolve)))
    const client = await connect()
    const [viewer] = followers
    client.emit('shell_open', taskId(1), size, () => undefined)
    await vi.waitFor(() => expect(reached).toEqual(['open']))
    viewer?.sessionEnded(sessionId(1))
    release()
    await vi.waitFor(() => expect(reached).toEqual(['open', 'close']))
  })

  // Attacks shell: somebody types on after an administrator has taken them off the list.
  test('is closed when the person who has it open loses access', async () => {
    const reached = shellsOfRunner()
    const client = await connect()
    await ask(client, 'shell_open', taskId(1), size)
    checkAccess = () => Promise.reject(new Error('The access cannot be checked.'))
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await ask(client, 'shell_resize', taskId(1), shellId, size)).toBe('taken')
    checkAccess = () => Promise.reject(new Fault('not_allowed'))
    await vi.advanceTimersByTimeAsync(30_000)
    await vi.waitFor(() => expect(client.connected).toBe(false))
    await vi.waitFor(() => expect(reached).toEqual(['open', 'resize', 'close']))
  })

  test('is left open when the access cannot be checked for so long that the connection ends', async () => {
    const reached = shellsOfRunner()
    const client = await connect()
    await ask(client, 'shell_open', taskId(1), size)
    checkAccess = () => Promise.reject(new Fault('code_host_unavailable'))
    await vi.advanceTimersByTimeAsync(30_000)
    await vi.waitFor(() => expect(client.connected).toBe(false))
    await vi.waitFor(() => expect(followers.size).toBe(0))
    expect(reached).toEqual(['open'])
  })

  test('is left open when only the connection is lost', async () => {
    const reached = shellsOfRunner()
    const client = await connect()
    await ask(client, 'shell_open', taskId(1), size)
    client.close()
    await vi.waitFor(() => expect(followers.size).toBe(0))
    expect(await ask(await connect(), 'shell_open', taskId(1), size)).toMatchObject({ shellId })
    expect(reached).toEqual(['open', 'open'])
  })
})

describe('who asks or holds back too much', () => {
  // Attacks shell: input without end for a program that does not read.
  test('is cut off: input for a shell that piles up', async () => {
    rpc.handle('useShell', () => new Promise(() => {}))
    const client = await connect()
    for (let count = 0; count < 30; count += 1)
      Reflect.apply(client.emit, client, ['shell_input', taskId(1), executionId(1), 'x', () => undefined])
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('is cut off: joins that pile up', async () => {
    gate = new Promise(() => {})
    const client = await connect()
    for (let count = 0; count < 250; count += 1) client.emit('join_task', taskId(1), null)
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('is cut off: packets larger than any that a client has to send', async () => {
    const client = await connect()
    Reflect.apply(client.emit, client, ['join_task', 'x'.repeat(200_000)])
    await vi.waitFor(() => expect(client.connected).toBe(false))
  })

  test('is cut off: a viewer that does not read, while another hears all', async () => {
    const [slow, quick] = [await connect(), await connect()]
    await join(slow, taskId(1))
    const slowViewer = onlyViewer(taskId(1))
    await join(quick, taskId(2))
    const quickViewer = onlyViewer(taskId(2))
    let heard = 0
    quick.on('terminal_output', () => (heard += 1))
    stopReading(slow)
    const text = 'x'.repeat(4_000)
    for (let round = 1; round <= 24; round += 1) {
      for (let said = 0; said < 500; said += 1) {
        slowViewer.send(piece(text))
        quickViewer.send(piece(text))
      }
      // Waits until the client that reads has received everything.
      await vi.waitFor(() => expect(heard).toBe(round * 500), { interval: 1 })
    }
    expect(quick.connected).toBe(true)
    await vi.waitFor(() => expect(followers.size).toBe(1))
  })

  test('is cut off: a viewer that does not read events with long texts', async () => {
    const slow = await connect()
    await join(slow, taskId(1))
    const slowViewer = onlyViewer(taskId(1))
    stopReading(slow)
    const tool = { executionId: executionId(1), toolId: 'tool-1' }
    const ended = { ok: true, durationMs: 1, exitCode: 0, additions: null, deletions: null }
    const texts = { summary: '', output: 'x'.repeat(60_000) }
    const event = recorded(ToolFinished.of({ ...tool, ...ended }, texts), { revision: 1 })
    for (let said = 0; said < 600; said += 1) slowViewer.send(['task_event', event])
    expect(emit).toHaveBeenCalledWith({ kind: 'socket', change: 'cut_off' })
  })
})

// Holds findings 1.113.
test('security L3: one person has so many sockets open at once and no more, and is told so', async () => {
  for (let opened = 0; opened < 5; opened += 1) await connect()
  await expect(connect()).rejects.toThrow(
    'You have 5 live connections open, which is the most. Close some tabs.',
  )
  clients.pop()?.close()
  clients.pop()?.close()
  await vi.waitFor(() => expect(followers.size).toBe(4))
  await connect()
})

test('a WebSocket on which nobody signs in is closed after ten seconds, whether or not its other end takes leave', async () => {
  const polling = await (await fetch(`${url}/socket.io/?EIO=4&transport=polling`)).text()
  const { sid } = JSON.parse(polling.slice(1))
  const opened = [openSilently(), openSilently({ answersPings: true }), openSilently({ sid })]
  for (const lived of await Promise.all(opened)) {
    expect(lived).toBeGreaterThan(5_000)
    // Without our own time limit for closing a WebSocket, it would be 37 s.
    expect(lived).toBeLessThan(30_000)
  }
})

/** Opens a WebSocket that sends nothing, or only answers pings. Returns how long it stayed open, in ms. */
async function openSilently({ answersPings = false, sid = '' } = {}): Promise<number> {
  const { hostname, port } = new URL(url)
  const connection = connectTo({ host: hostname, port: Number(port), allowHalfOpen: true })
  const path = `/socket.io/?EIO=4&transport=websocket${sid === '' ? '' : `&sid=${sid}`}`
  const upgrade = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13']
  const key = `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`
  connection.write([`GET ${path} HTTP/1.1`, `Host: ${hostname}`, ...upgrade, key, '', ''].join('\r\n'))
  const begun = performance.now()
  connection.on('data', (data) => {
    // The server's ping is a text frame with the packet '2'; the client answers with a masked frame with '3'.
    if (answersPings && data.includes(Buffer.from([0x81, 1, 0x32])))
      connection.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x33]))
  })
  connection.on('error', () => undefined)
  // The server's end of the connection shows when the server has closed it.
  const served = await vi.waitFor(() => {
    const found = [...connections].find(({ remotePort }) => remotePort === connection.localPort)
    if (!found) throw new Error('It is not served yet.')
    return found
  })
  await once(served, 'close')
  connection.destroy()
  return performance.now() - begun
}

/** Makes the client stop reading, as a browser that hangs does. What the server sends stays in the kernel. */
function stopReading(client: Socket<ServerEvents, ClientEvents>): void {
  const websocket: unknown = Reflect.get(client.io.engine.transport, 'ws')
  const connection: unknown = Reflect.get(Object(websocket), '_socket')
  const pause: unknown = Reflect.get(Object(connection), 'pause')
  if (typeof pause !== 'function') throw new Error('The client has no connection to pause.')
  Reflect.apply(pause, connection, [])
}
