/** The socket server: who may connect, which rooms they may join, and how slow a client may be. */
import type { IncomingMessage, Server as HttpServer } from 'node:http'
import type { Socket as Connection } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { Server, type Socket } from 'socket.io'
import { WebSocketServer, type ServerOptions } from 'ws'
import { z } from 'zod'
import { JoinTask, type ClientEvents, type JoinAnswer, type ServerEvents } from '#domain/api/socket.schema.ts'
import { readInput } from '#domain/kernel/readInput.ts'
import { Fault, faults } from '#domain/kernel/errors.ts'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { usersView } from '#domain/views/users.ts'
import { limitConcurrency } from '#platform/async/queue.ts'
import { signedIn } from '#platform/http/guards.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { VerifiedIdentity } from '#platform/http/session.ts'
import type { Rate, Strangers } from '../http/limits.ts'
import type { GatewayServices } from '../services.ts'
import type { Feed, Viewer } from './feed.ts'
import { serveShells, type ShellServices } from './shells.ts'

type LiveServer = Server<ClientEvents, ServerEvents, Record<string, never>, VerifiedIdentity>
type LiveSocket = Socket<ClientEvents, ServerEvents, Record<string, never>, VerifiedIdentity>

type SocketServices = Pick<GatewayServices, 'sessions' | 'accessControl' | 'documents' | 'logger' | 'emit'> &
  ShellServices & {
    /** Throws when a person connects, or asks for tasks that the read models do not have, too often. */
    readonly mayConnect: Rate
    /** Whether a request may open the socket, judged by its host names and origin. */
    readonly mayOpen: (request: IncomingMessage) => boolean
    /** Called when somebody has signed in on a connection. */
    readonly known: (connection: Connection) => void
    /** How many sockets one person may have open. */
    readonly socketsOfPerson: number
    /** Counts the connections on which nobody has signed in yet. */
    readonly strangers: Strangers<object>
    /** Called when somebody has connected or opened a task. */
    readonly onPresence: () => void
  }

const Handshake = z.object({ token: z.string(), knowsWords: z.boolean().default(false) })

/**
 * The maximum number of packets and characters that may wait for a slow client. A client that exceeds a limit is disconnected, and catches up when it
 * reconnects.
 */
const maxWaiting = { packets: 5_000, characters: 16 * 1_048_576 }
/** While this many packets or more wait, pieces of text that are not recorded yet are dropped, because later pieces contain their text too. */
const waitingWithWords = 100
/** How often connected people are checked against the list of people who may sign in. */
const checkIntervalMs = 30_000
/** How soon a session is checked again that could not be checked because an engine was unavailable. */
const retrySessionCheckMs = 5_000
/** The maximum number of rooms that one socket may be in. */
const roomsAtOnce = 50
/** The maximum number of new connections that are authenticated at once. */
const enteringAtOnce = 16
/** The maximum number of joins and leaves of one socket that may wait. */
const maxPendingRequests = 200

/** A connection on which nobody has signed in is closed after this time, and destroyed after ten seconds. */
const signInMs = 9_000
/** How long to wait for the other end of a WebSocket to confirm the close; the default would be half a minute. */
const leaveMs = 1_000

/** engine.io calls this function with `new`, and gets a WebSocket server that waits at most `leaveMs` for the other end. */
function webSockets(options: ServerOptions): WebSocketServer {
  const prompt = { ...options, closeTimeout: leaveMs }
  return new WebSocketServer(prompt)
}

/** Opens the socket on the gateway's HTTP server. The caller closes it. */
export function openSocket(http: HttpServer, feed: Feed, services: SocketServices): LiveServer {
  const { strangers } = services
  const io: LiveServer = new Server(http, {
    serveClient: false,
    transports: ['websocket', 'polling'],
    maxHttpBufferSize: 100_000,
    connectTimeout: signInMs,
    upgradeTimeout: signInMs,
    wsEngine: webSockets,
    allowRequest: (request, decide) => {
      if (!services.mayOpen(request)) decide(null, false)
      else if (strangers.mayCome(addressOf(request))) decide(null, true)
      else decide('Too many connections are open from there on which nobody has signed in.', false)
    },
    // With these values, the client shows a silently dead connection as doubtful within three seconds, and closes it within seven.
    pingInterval: 2_000,
    pingTimeout: 5_000,
  })
  io.engine.on('connection', (session: LiveSocket['conn']) => {
    strangers.came(session, addressOf(session.request))
    session.once('close', () => strangers.gone(session))
  })
  const inLine = limitConcurrency(enteringAtOnce)
  io.use(async (socket, next) => {
    try {
      await inLine(async () => {
        // Yields, so that connected viewers get live events between two new connections.
        await nextTurn()
        await enter(socket, services)
      })
    } catch (thrown) {
      const isTold =
        thrown instanceof Fault &&
        ['rate_limited', 'not_allowed', 'onboarding_incomplete'].includes(thrown.code)
      return next(new Error(isTold ? thrown.message : faults.sign_in_required.sentence))
    }
    return next()
  })
  const shells: Shells = new WeakMap()
  io.on('connection', (socket) => {
    const closeShells = serveShells(socket, services)
    shells.set(socket, closeShells)
    serve(socket, feed, services, closeShells)
  })
  if (!services.accessControl.isOpen) {
    const timer = setInterval(() => void checkAll(io, shells, services), checkIntervalMs)
    // Without `listen`, the server never emits `close`, and the timer would keep its process alive.
    timer.unref()
    http.once('close', () => clearInterval(timer))
  }
  return io
}

/** For each socket, the function that closes its shells. */
type Shells = WeakMap<LiveSocket, () => void>

/** Closes the sockets of people who may no longer sign in, or for whom this cannot be checked any more; of the former, the shells too. */
async function checkAll(
  io: LiveServer,
  shells: Shells,
  { accessControl, logger }: SocketServices,
): Promise<void> {
  for (const socket of io.sockets.sockets.values()) {
    try {
      await accessControl.check(socket.data.userId)
    } catch (thrown) {
      if (!(thrown instanceof Fault)) {
        logger.error({ err: thrown }, 'failed to check access')
        continue
      }
      // An outage of the code host ends the connection, but no programs.
      if (thrown.code !== 'code_host_unavailable') shells.get(socket)?.()
      socket.disconnect(true)
    }
  }
}

async function enter(socket: LiveSocket, services: SocketServices): Promise<void> {
  const { token } = Handshake.parse(socket.handshake.auth)
  const identity = await services.sessions.verify(token)
  if (identity === undefined) throw new Fault('sign_in_required')
  const { user } = await signedIn({ identity }, services)
  await services.accessControl.check(user.id)
  await services.mayConnect(user.id)
  if (openOf(user.id, socket.nsp.sockets.values()) >= services.socketsOfPerson) {
    const sentence = `You have ${services.socketsOfPerson} live connections open, which is the most. Close some tabs.`
    throw new Fault('rate_limited', sentence)
  }
  socket.data = identity
  services.known(socket.request.socket)
  services.strangers.gone(socket.conn)
}

function openOf(userId: string, sockets: Iterable<LiveSocket>): number {
  let open = 0
  for (const { data } of sockets) if (data.userId === userId) open += 1
  return open
}

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? ''

function serve(socket: LiveSocket, feed: Feed, services: SocketServices, closeShells: () => void): void {
  const { userId, sessionId } = socket.data
  const waiting = { packets: 0, characters: 0 }
  socket.conn.on('drain', () => Object.assign(waiting, { packets: 0, characters: 0 }))
  const viewer: Viewer = {
    knowsWords: Handshake.parse(socket.handshake.auth).knowsWords,
    send([name, payload]) {
      const isReplaced =
        name === 'chat_message_words' ||
        name === 'thought_words' ||
        ('isPartial' in payload && payload.isVisible)
      if (isReplaced && waiting.packets >= waitingWithWords) return
      waiting.packets += 1
      waiting.characters += charactersOf(payload)
      // Cuts the connection off at once, because a client that does not read would never confirm an orderly close.
      if (waiting.packets > maxWaiting.packets || waiting.characters > maxWaiting.characters) cutOff()
      // Each name belongs to the type of its payload, but TypeScript does not see that in a union.
      else socket.emit(name, ...([payload] as never))
    },
    sessionEnded(ended) {
      if (ended !== sessionId) return
      closeShells()
      socket.disconnect(true)
    },
  }
  /** Closes the connection; messages sent later do nothing. */
  function cutOff(): void {
    if (socket.conn.readyState === 'open') services.emit({ kind: 'socket', change: 'cut_off' })
    socket.conn.close(true)
  }
  const joined = new Set<string>()
  services.emit({ kind: 'socket', change: 'opened' })
  feed.follow(userId, viewer)
  void endIfSignedOut(socket, viewer, services)
  endAtExpiry(socket, viewer)
  services.onPresence()
  let turn: Promise<void> = Promise.resolve()
  let pendingRequests = 0
  /** Runs requests in order, so that a client that leaves a room before it has joined is not in the room afterwards. */
  function serialized(work: () => Promise<void> | void): void {
    pendingRequests += 1
    if (pendingRequests > maxPendingRequests) return void socket.disconnect(true)
    turn = turn.then(work).finally(() => (pendingRequests -= 1))
  }

  socket.on('join_task', (taskId, last, answer) => {
    // A client may leave out its cursor and pass the callback as second argument.
    const reply = typeof last === 'function' ? last : answer
    const heard = typeof last === 'function' ? null : last
    serialized(async () => {
      const joining = await join(taskId, heard)
      if (typeof reply === 'function') reply(joining)
    })
  })

  async function join(taskId: unknown, last: unknown): Promise<JoinAnswer> {
    try {
      const input = readInput(JoinTask, [taskId, last])
      if (input.kind === 'refused') throw new Fault('invalid_input', input.sentence)
      const [id, heard] = input.data
      if (!joined.has(id) && joined.size >= roomsAtOnce) throw new Fault('rate_limited')
      const task = (await services.documents.get(tasksView, id)) ?? (await taskByLog(services, userId, id))
      if (task?.owner !== userId) throw new Fault('not_found', 'There is no such task.')
      const joining = await feed.join(id, viewer, heard ?? null)
      // A client that disconnected in the meantime must not stay in the room.
      if (socket.disconnected) feed.leave(id, viewer)
      else joined.add(id)
      services.onPresence()
      return { joined: true, ...joining }
    } catch (thrown) {
      if (!(thrown instanceof Fault)) services.logger.error({ err: thrown }, 'join_task failed')
      const fault = thrown instanceof Fault ? thrown : new Fault('internal')
      return { joined: false, error: fault.message, code: fault.code }
    }
  }

  socket.on('leave_task', (taskId) => {
    if (!TaskId.safeParse(taskId).success) return
    serialized(() => {
      joined.delete(taskId)
      feed.leave(taskId, viewer)
    })
  })

  socket.on('disconnect', () => {
    for (const taskId of joined) feed.leave(taskId, viewer)
    feed.unfollow(userId, viewer)
    services.emit({ kind: 'socket', change: 'closed' })
  })
}

/** Ends a connection when its session expires. */
function endAtExpiry(socket: LiveSocket, viewer: Viewer): void {
  const { sessionId, endsAt } = socket.data
  const expiry = setTimeout(() => viewer.sessionEnded(sessionId), endsAt - Date.now())
  socket.on('disconnect', () => clearTimeout(expiry))
}

/** The task by the log, which knows a new task before the read models do. Counts as a request of the person. */
async function taskByLog(
  { documents, mayConnect }: SocketServices,
  userId: string,
  taskId: string,
): Promise<TaskDocument | undefined> {
  await mayConnect(userId)
  return documents.now(tasksView, taskStream(taskId), taskId)
}

/** Ends a connection whose session had ended before the viewer followed the feed: the read model, by which it was let in, may be behind. */
async function endIfSignedOut(socket: LiveSocket, viewer: Viewer, services: SocketServices): Promise<void> {
  const { documents, logger } = services
  const { userId, sessionId } = socket.data
  try {
    const user = await documents.now(usersView, userStream(userId), userId)
    const isOver = user?.endedSessions.some((ended) => ended.sessionId === sessionId) ?? true
    if (isOver) viewer.sessionEnded(sessionId)
  } catch (thrown) {
    if (thrown instanceof EngineUnavailable) {
      await pause(retrySessionCheckMs, undefined, { ref: false })
      if (socket.connected) await endIfSignedOut(socket, viewer, services)
      return
    }
    logger.error({ err: thrown }, 'failed to check the session of a connection')
    socket.disconnect(true)
  }
}

/** The number of characters of all texts in a payload, however deep. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, inner: unknown) => sum + charactersOf(inner), 0)
}
