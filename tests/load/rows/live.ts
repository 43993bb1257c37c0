/** How late live lines are while everybody reconnects at once, and how many changes of other people's tasks a gateway can skip. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import { constants, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Server } from 'socket.io'
import { z } from 'zod'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { ExecutionRequested, TaskCreated } from '#domain/task/events.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { emptyHead, type Head } from '#platform/eventlog/eventLog.ts'
import { mainProjection } from '#platform/reads/projectionWait.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import { limitStrangers } from '../../../services/gateway/http/limits.ts'
import { startFeed } from '../../../services/gateway/live/feed.ts'
import { openSocket } from '../../../services/gateway/live/socket.ts'
import { startProjector } from '../../../services/query/projection/projector.ts'
import { executionId, messageId, projectId, taskId, userId } from '../../domain/ids.ts'
import { recorded } from '../../domain/recorded.ts'
import { cause, openAccess, openTestEngines, type TestEngines } from '../../server/engines.ts'
import type { Line, Row, Scene } from '../row.ts'

const viewers = 1_000
const tasks = 100
const missedEach = 50
const lineEveryMs = 10
const rounds = 3
/** The number of the viewers' first task; task 0 is the one whose output streams. */
const first = 1
const printed = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const

export const live: Row = {
  name: 'live',
  onlyByName: true,
  remark:
    'Late is a line from the moment at which it is due to its arrival at a client in another process, while another process, at the lowest priority, opens 1,000 sockets and joins with each.',
  async measure(scene) {
    return [...(await joins(scene)), ...(await strangers())]
  },
}

async function joins(scene: Scene): Promise<readonly Line[]> {
  const engines = await openTestEngines()
  scene.atEnd(() => engines.close())
  const last = await seedTasks(engines)
  const projector = await startProjector(engines)
  scene.atEnd(() => projector.stop())
  await foldedTo(engines)
  const figures: Round[] = []
  const floors: Round[] = []
  for (let round = 0; round < rounds; round += 1) {
    figures.push(await roundOf(scene, last, await openGateway(engines)))
    floors.push(await roundOf(scene, last, await openBare()))
  }
  const latest = (all: readonly Round[]) => Math.max(...all.flatMap(({ late }) => late))
  const backAfter = (all: readonly Round[]) => Math.max(...all.map(({ backMs }) => backMs))
  const lines = figures.reduce((sum, { late }) => sum + late.length, 0)
  return [
    {
      name: `the latest of ${lines} live lines, while ${viewers} viewers come back at once in each of ${rounds} rounds`,
      unit: 'ms',
      figure: latest(figures),
      floor: { name: 'bare Socket.IO', figure: latest(floors) },
    },
    {
      name: `until all ${viewers} are back and have the ${missedEach} lines that each missed, the longest of ${rounds}`,
      unit: 'ms',
      figure: backAfter(figures),
      floor: { name: 'bare Socket.IO', figure: backAfter(floors) },
    },
  ]
}

/** Returns the position after which each viewer has missed lines. */
async function seedTasks({ log }: TestEngines): Promise<Position> {
  for (let n = 0; n <= tasks; n += 1) {
    const facts = { taskId: taskId(n), ownerId: userId(1), projectId: projectId(1), agent: 'claude' } as const
    const created = TaskCreated.of(facts, { title: 't', description: 'd', branch: 'main', codexModel: null })
    await log.append(taskStream(taskId(n)), emptyHead, [created], cause())
  }
  const [lastCreated] = await log.readBackwards(taskStream(taskId(tasks)), 'end', 1)
  for (let n = first; n <= tasks; n += 1) {
    const lines = Array.from({ length: missedEach }, (_, line) =>
      TerminalOutputRecorded.of(printed, { text: `line ${line} of what was printed meanwhile\n` }),
    )
    await log.append(terminalStream(taskId(n)), emptyHead, lines, { ...cause(), follows: 0 })
  }
  return lastCreated?.position ?? '0'
}

async function foldedTo({ eventStore, readStore }: TestEngines): Promise<void> {
  const head = await eventStore.head()
  while ((await readStore.checkpoint(mainProjection)) !== head) await pause(20)
}

/** The server to which viewers connect. */
interface Door {
  readonly http: HttpServer
  /** Prints a line into the task whose output streams. */
  print(text: string): Promise<void>
  close(): Promise<void>
}

async function openGateway(engines: TestEngines): Promise<Door> {
  const { log, readStore } = engines
  await readStore.apply(
    [
      {
        kind: 'put',
        collection: 'users',
        document: { id: userId(1), onboardingCompleted: true, endedSessions: [] },
        position: '1',
      },
    ],
    null,
  )
  const feed = await startFeed({
    ...engines,
    imageAddresses: { addressOf: () => '' },
    words: { hear: () => () => undefined },
  })
  const http = createServer()
  const unused = () => Promise.reject(new Error('Nobody asks this.'))
  const server = openSocket(http, feed, {
    sessions: {
      verify: async () => ({ userId: userId(1), sessionId: 'session-1', endsAt: Date.now() + 86_400_000 }),
      token: unused,
      begin: () => ({ sessionId: '', startsAt: '', expiresAt: '', client: null }),
    },
    accessControl: openAccess,
    documents: engines.documents,
    logger: engines.logger,
    emit: noTelemetry,
    rpc: { call: unused },
    vault: { seal: unused },
    mayConnect: async () => undefined,
    mayOpen: () => true,
    known: () => undefined,
    socketsOfPerson: viewers + 1,
    strangers: limitStrangers({ ofAddress: viewers * 2, isProxied: false }),
    onPresence: () => undefined,
  })
  let head: Head = await log.headOf(terminalStream(taskId(0)))
  let turn: Promise<void> = Promise.resolve()
  const waiting: string[] = []
  /** Lines that arrive while the log writes are appended together, as a runner's lines are. */
  const append = async () => {
    const lines = waiting.splice(0).map((text) => TerminalOutputRecorded.of(printed, { text }))
    if (lines.length === 0) return
    const outcome = await log.append(terminalStream(taskId(0)), head, lines, { ...cause(), follows: 0 })
    if (outcome.kind === 'conflict') throw new Error('Nobody else prints.')
    head = outcome.head
  }
  return {
    http,
    print(text) {
      waiting.push(text)
      turn = turn.then(append)
      return turn
    },
    async close() {
      await feed.stop()
      await server.close()
    },
  }
}

/** The least that could do the job: connections, the missed lines from memory, and each live line for those who watch. */
async function openBare(): Promise<Door> {
  const http = createServer()
  const server = new Server(http, { serveClient: false })
  const saying = (content: string) => ({
    taskId: taskId(0),
    timestamp: '2025-01-02T03:04:05.678Z',
    content,
    type: 'stdout',
    executionId: printed.executionId,
    position: '1',
    version: 1,
    commandId: 'c',
  })
  const missed = Array.from({ length: missedEach }, (_, line) =>
    saying(`line ${line} of what was printed meanwhile\n`),
  )
  server.on('connection', (socket) => {
    socket.on('join_task', (id: string, _last: unknown, answer: (joined: object) => void) => {
      if (id === taskId(0)) void socket.join('watching')
      else for (const line of missed) socket.emit('terminal_output', line)
      answer({ joined: true, resync: false, position: '1' })
    })
  })
  return {
    http,
    async print(text) {
      server.to('watching').emit('terminal_output', saying(text))
    },
    close: async () => void (await server.close()),
  }
}

interface Round {
  /** How late each line was, in milliseconds. */
  readonly late: readonly number[]
  readonly backMs: number
}

async function roundOf(scene: Scene, last: Position, door: Door): Promise<Round> {
  door.http.listen(0, '127.0.0.1')
  await once(door.http, 'listening')
  const address = door.http.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const watcher = startViewers(scene, {
    url,
    kind: 'watch',
    tasks: [taskId(0)],
    viewers: 1,
    last: null,
    missed: 0,
  })
  const crowd = startViewers(scene, {
    url,
    kind: 'crowd',
    tasks: Array.from({ length: tasks }, (_, n) => taskId(first + n)),
    viewers,
    last,
    missed: missedEach,
  })
  // Real viewers have machines of their own; here they must not take the server's processor time.
  if (crowd.pid !== undefined) setPriority(crowd.pid, constants.priority.PRIORITY_LOW)
  await Promise.all([told(watcher, 'ready'), told(crowd, 'ready')])
  const printing = new AbortController()
  const lines = printLines(door, printing.signal)
  // Lines before anybody reconnects are not counted, but have to be printed.
  await pause(500)
  watcher.send('count')
  const began = performance.now()
  crowd.send('go')
  await told(crowd, 'back')
  const backMs = performance.now() - began
  await pause(300)
  printing.abort()
  await lines
  const report = told(watcher, 'report')
  watcher.send('report')
  const { late } = await report
  for (const child of [watcher, crowd]) child.kill('SIGKILL')
  await door.close()
  return { late, backMs }
}

/** Prints a line every 10 ms, with the time at which it is due, so that anything that blocks the process makes the line late. */
async function printLines(door: Door, signal: AbortSignal): Promise<void> {
  const begun = Date.now()
  const under: Promise<void>[] = []
  for (let n = 0; !signal.aborted; n += 1) {
    const due = begun + n * lineEveryMs
    if (due > Date.now()) await pause(due - Date.now())
    under.push(door.print(`due ${due}\n`))
  }
  await Promise.all(under)
}

const Said = z.object({ said: z.string(), late: z.array(z.number()).default([]) })

function startViewers(scene: Scene, plan: object): ChildProcess {
  const script = fileURLToPath(new URL('../viewers.ts', import.meta.url))
  const child = fork(script, [JSON.stringify(plan)], { execArgv: ['--import', 'tsx'] })
  scene.atEnd(async () => child.kill('SIGKILL'))
  return child
}

function told(child: ChildProcess, what: string): Promise<z.infer<typeof Said>> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The viewers ended before they said '${what}'.`)))
    child.on('message', (message) => {
      const said = Said.parse(message)
      if (said.said === what) resolve(said)
    })
  })
}

const away = 1
const changes = 50_000

/** Changes the status of many tasks that no viewer here may see, all of which are older than the gateway. */
async function strangers(): Promise<readonly Line[]> {
  const figures: number[] = []
  const floors: number[] = []
  const events = Array.from({ length: changes }, (_, n): StoredEvent => {
    const asked = {
      executionId: executionId(n),
      messageId: messageId(n),
      kind: 'turn',
      agent: 'claude',
    } as const
    const stream = taskStream(taskId(n))
    const event = ExecutionRequested.of({ ...asked, reason: 'start' })
    return recorded(event, { stream, revision: 1, position: String(n + 1) }) as unknown as StoredEvent
  })
  for (let round = 0; round < rounds; round += 1) {
    figures.push(await rateOf(events, true))
    floors.push(await rateOf(events, false))
  }
  return [
    {
      name: `strangers' status changes past a gateway, engines ${away} ms away, somebody connected`,
      unit: 'a second',
      figure: Math.min(...figures),
      floor: { name: 'with nobody connected', figure: Math.min(...floors) },
    },
  ]
}

async function rateOf(events: readonly StoredEvent[], isSomebodyThere: boolean): Promise<number> {
  const engines = await openTestEngines()
  const far =
    <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args) => {
      await pause(away)
      return call(...args)
    }
  let handle: (events: readonly StoredEvent[]) => Promise<void> = async () => undefined
  const owned = far(
    async (_: unknown, ids: readonly string[]) => new Map(ids.map((id) => [id, { owner: userId(2) }])),
  )
  const feed = await startFeed({
    ...engines,
    eventStore: {
      ...engines.eventStore,
      subscribe: (_after, _batch, take) => {
        handle = (some) => take(some, some.at(-1)?.position ?? '0')
        return { stop: async () => undefined }
      },
    },
    documents: { ...engines.documents, getMany: owned as unknown as typeof engines.documents.getMany },
    log: { ...engines.log, read: far(engines.log.read), open: far(engines.log.open) },
    imageAddresses: { addressOf: () => '' },
    words: { hear: () => () => undefined },
  })
  if (isSomebodyThere)
    feed.follow(userId(1), { send: () => undefined, knowsWords: true, sessionEnded: () => undefined })
  const begun = performance.now()
  for (let from = 0; from < events.length; from += 500) await handle(events.slice(from, from + 500))
  const seconds = (performance.now() - begun) / 1_000
  await feed.stop()
  await engines.close()
  return events.length / seconds
}
