/** Viewers whose connections are cut again and again while a task runs, compared with what the log says that each must have received. */
import { expect } from 'vitest'
import { getChat, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import type { ResumeCursor } from '#domain/api/socket.schema.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { project, type AnyRecorded } from '#domain/views/view.ts'
import { connectLive, type Heard, type Live } from '../product/live.ts'
import type { Person } from '../product/person.ts'
import type { Script, Turn } from '../standins/messagesApi.ts'
import { hasEnded, type Scene } from './scene.ts'
import { openStoppedProduct } from './stoppedProduct.ts'

const words = Array.from({ length: 25 }, (_, n) => `word ${n + 1}`).join(' ')
const printing = 'for n in $(seq 1 20); do echo "line $n"; sleep 0.015; done; echo wrong >&2; sleep 0.05'
/** A turn that says something word by word, and prints something line by line. */
const round: Turn = {
  text: words,
  pauseMs: 8,
  tools: [{ name: 'Bash', input: { command: printing, description: 'Print' } }],
}

/** A turn that goes on until the test ends it. */
export interface EndlessTurn {
  readonly script: Script
  enough(): void
}

export function endlessTurn(): EndlessTurn {
  const turns = Array.from({ length: 10_000 }, () => round)
  return { script: { when: /Count/, turns }, enough: () => void turns.splice(0) }
}

export interface Reconnecting {
  readonly scene: Scene
  readonly turn: EndlessTurn
  /** The number of reconnects of all viewers together. */
  readonly reconnects: number
  /** Called once, when half of the reconnects are over, for example to kill the product and start it again. */
  readonly halfway?: () => Promise<void>
}

/** The results, for the report. */
export interface Reconnected {
  readonly reconnects: number
  /** The number of reconnects per second of the quickest viewer, on average over the whole time. */
  readonly reconnectsASecond: number
  readonly events: number
}

/** What a viewer knows of the task, as a client would. */
interface Seen {
  readonly name: string
  /** Everything that the viewer received, up to each moment at which it was cut off. */
  readonly heard: Heard[]
  /** The terminal and the chat as the viewer shows them: from the history if it reads that, otherwise as received. */
  terminal: readonly Placed[]
  chat: readonly Placed[]
  reconnects: number
  seconds: number
}

interface Placed {
  readonly position: Position
  readonly text: string | null
}

/**
 * Creates a task, has three viewers watch its next turn while each is cut off as often as its share, and compares what they saw with the log:
 * everything once, in order. Stops the product.
 */
export async function holdThroughReconnects(asked: Reconnecting): Promise<Reconnected> {
  const { scene, turn, reconnects, halfway } = asked
  const { ada } = scene
  const task = await ada.task(scene.projectId, 'Be ready')
  await ada.taskOnce(task.id, hasEnded)
  const start = await placeOf(ada, task.id)
  await ada.ask(sendMessage, { params: { taskId: task.id }, body: { message: 'Count' } })

  const share = Math.ceil(reconnects / 3)
  let over = false
  let cuts = 0
  let half: Promise<void> | undefined
  const onCut = () => {
    cuts += 1
    if (cuts * 2 >= reconnects) half ??= halfway?.()
  }
  const of = { scene, taskId: task.id, start, share, onCut, isOver: () => over }
  const watching = [
    watch({ ...of, name: 'by websocket', transports: ['websocket'], remembers: true }),
    watch({ ...of, name: 'by polling and websocket', transports: ['polling', 'websocket'], remembers: true }),
    watch({ ...of, name: 'without its position', transports: ['websocket', 'polling'], remembers: false }),
  ]
  // The viewers are cut off while the turn runs; the turn only ends when each has had its share.
  const watched = Promise.all(watching.map(({ seen }) => seen))
  await Promise.race([Promise.all(watching.map(({ hadShare }) => hadShare)), watched])
  await half
  turn.enough()
  await ada.taskOnce(task.id, ({ status }) => status === 'completed')
  over = true
  const seen = await watched

  await scene.product.terminate()
  const events = await recorded(scene, task.id, start)
  for (const viewer of seen) hold(viewer, events, task.id)
  return {
    reconnects: seen.reduce((sum, viewer) => sum + viewer.reconnects, 0),
    reconnectsASecond: Math.max(...seen.map((viewer) => viewer.reconnects / viewer.seconds)),
    events: events.since.length,
  }
}

interface Watching {
  readonly scene: Scene
  readonly taskId: string
  readonly start: Position
  readonly share: number
  readonly name: string
  /** The transports are used in turn, one per connection. */
  readonly transports: readonly ('websocket' | 'polling')[]
  /** Whether the viewer names the last position it has seen, or reads the history each time. */
  readonly remembers: boolean
  onCut(): void
  isOver(): boolean
}

/** How connections end: closed, broken, or asleep, so that the server notices only later. */
const endings = ['close', 'break', 'break', 'close', 'sleep'] as const
const longestPauseMs = 60

/** Begins to watch. `hadShare` resolves once the viewer was cut off as often as planned, and `seen` when it has seen the task end. */
function watch(watching: Watching): { hadShare: Promise<void>; seen: Promise<Seen> } {
  let tellShare = () => {}
  const hadShare = new Promise<void>((resolve) => {
    tellShare = resolve
  })
  return { hadShare, seen: watchOn(watching, tellShare) }
}

async function watchOn(watching: Watching, tellShare: () => void): Promise<Seen> {
  const { scene, taskId, start, share, name, transports, remembers, onCut } = watching
  const seen: Seen = { name, heard: [], terminal: [], chat: [], reconnects: 0, seconds: 0 }
  const asleep: Live[] = []
  const begun = performance.now()
  for (let isLast = false; !isLast;) {
    const transport = transports[seen.reconnects % transports.length] ?? 'websocket'
    const live = await connected(scene, transport)
    const joined = await live
      .join(taskId, remembers ? resumeCursor(seen.heard, start) : null)
      .catch(() => undefined)
    // The server was killed meanwhile.
    if (joined === undefined) continue
    if (!joined.joined || joined.resync) throw new Error(`${name}: it was told ${JSON.stringify(joined)}`)
    const covered = joined.position ?? start
    if (!remembers) Object.assign(seen, await historyUpTo(scene.ada, taskId, covered))

    const hasMore = seen.reconnects < share
    if (hasMore) await pause(Math.random() * longestPauseMs)
    else {
      seen.seconds ||= (performance.now() - begun) / 1_000
      tellShare()
      isLast = await sawTheEnd(live, watching.isOver)
    }
    // What arrives after this moment is ignored: the next connection receives it again.
    const heard = ofTask(live)
    const ending = endings[seen.reconnects % endings.length]
    if (hasMore && transport === 'websocket' && ending === 'sleep') {
      if (live.isConnected()) live.fallAsleep()
      asleep.push(live)
    } else if (hasMore && transport === 'websocket' && ending === 'break' && live.isConnected()) live.break()
    else live.close()
    if (hasMore) {
      seen.reconnects += 1
      onCut()
    }

    seen.heard.push(...heard)
    if (!remembers) addTo(seen, heard, covered)
  }
  for (const live of asleep) live.close()
  return seen
}

const outsideTheLog: ReadonlySet<string> = new Set([
  'global_task_status_changed',
  'chat_message_words',
  'thought_words',
])
const ofTask = (live: Live): readonly Heard[] => live.heard.filter(({ name }) => !outsideTheLog.has(name))

/** The cursor that a viewer sends when it reconnects after receiving these messages. */
function resumeCursor(heard: readonly Heard[], start: Position): ResumeCursor {
  const position = heard.map(positionOf).reduce(later, start)
  const messages = heard.filter((event) => positionOf(event) === position).length
  return messages === 0 ? position : { position, messages }
}

/** Connects, with as many attempts as necessary while the server is down. */
async function connected({ product, ada }: Scene, transport: 'websocket' | 'polling'): Promise<Live> {
  for (const end = Date.now() + 30_000; ;) {
    try {
      return await connectLive(product.base, ada.token, transport)
    } catch (fault) {
      if (Date.now() > end) throw fault
      await pause(50)
    }
  }
}

/** Waits until the turn is over and this connection was told so; `false` when the connection ended before. */
async function sawTheEnd(live: Live, isOver: () => boolean): Promise<boolean> {
  while (live.isConnected()) {
    const isTold = live.of('task_status_changed').some(({ status }) => status === 'completed')
    if (isOver() && isTold) return true
    await pause(20)
  }
  return false
}

/** The terminal and the chat from the API, up to a position. */
async function historyUpTo(ada: Person, taskId: string, position: Position) {
  const asked = { params: { taskId }, query: { limit: '5000' } }
  const [{ output }, { messages }] = await Promise.all([ada.ask(getTerminal, asked), ada.ask(getChat, asked)])
  const isCovered = (one: Placed) => comparePositions(one.position, position) <= 0
  return {
    terminal: output.map((one) => placed(one.position, one.content)).filter(isCovered),
    chat: messages.map((one) => placed(one.position, one.message)).filter(isCovered),
  }
}

/** Adds what was received after the history, which covers everything before. */
function addTo(seen: Seen, heard: readonly Heard[], covered: Position): void {
  for (const event of heard) {
    expect(comparePositions(positionOf(event), covered), `${seen.name} is told what the history has`).toBe(1)
    if (event.name === 'terminal_output')
      seen.terminal = [...seen.terminal, placed(event.payload.position, event.payload.content)]
    if (event.name === 'chat_message')
      seen.chat = [...seen.chat, placed(event.payload.position, event.payload.message)]
  }
}

const placed = (position: Position, text: string | null): Placed => ({ position, text })
const positionOf = ({ payload }: Heard): Position => ('position' in payload ? payload.position : '0')
const later = (one: Position, other: Position) => (comparePositions(one, other) < 0 ? other : one)
const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

/** The position at which a join finds the task; the history contains everything up to it. */
async function placeOf(ada: Person, taskId: string): Promise<Position> {
  const live = await ada.socket()
  const joined = await live.join(taskId)
  live.close()
  if (!joined.joined || joined.position === null) throw new Error('The task can be joined.')
  return joined.position
}

interface Recorded {
  readonly before: readonly AnyRecorded[]
  readonly since: readonly AnyRecorded[]
  /** The task after each of its events, by position. */
  readonly after: ReadonlyMap<Position, TaskDocument | undefined>
}

/** What the log contains about the task, in the order of the whole log. */
async function recorded({ product }: Scene, taskId: string, start: Position): Promise<Recorded> {
  const stored = await openStoppedProduct(product.dataDir)
  try {
    const most = 100_000
    const ofTask = await stored.log.read(taskStream(taskId), 0, most)
    const ofTerminal = await stored.log.read(terminalStream(taskId), 0, most)
    const all = [...ofTask, ...ofTerminal].toSorted((a, b) => comparePositions(a.position, b.position))
    const after = new Map<Position, TaskDocument | undefined>()
    let document: TaskDocument | undefined
    for (const event of ofTask) {
      document = project(tasksView, document, event, taskId)
      after.set(event.position, document)
    }
    const isSince = ({ position }: AnyRecorded) => comparePositions(position, start) > 0
    return { before: all.filter((event) => !isSince(event)), since: all.filter(isSince), after }
  } finally {
    await stored.close()
  }
}

const outputs = (events: readonly AnyRecorded[]) =>
  events.flatMap((event) =>
    event.type === 'TerminalOutputRecorded' ? [placed(event.position, event.content?.text ?? '')] : [],
  )
const messages = (events: readonly AnyRecorded[]) =>
  events.flatMap((event) =>
    event.type === 'MessageQueued' || event.type === 'MessagePosted'
      ? [placed(event.position, event.content?.message ?? null)]
      : [],
  )
const faring = new Set(['ExecutionStarted', 'ExecutionCompleted', 'ExecutionFailed', 'ExecutionCancelled'])

/** Checks that the viewer saw everything once and in order. */
function hold(seen: Seen, { before, since, after }: Recorded, taskId: string): void {
  const { name, heard } = seen
  if (seen.terminal.length > 0) {
    expect(seen.terminal, `${name}: output`).toEqual(outputs([...before, ...since]))
    expect(seen.chat, `${name}: messages`).toEqual(messages([...before, ...since]))
    return
  }
  const told = <T>(pick: (event: Heard) => readonly T[]): readonly T[] => heard.flatMap(pick)
  expect(
    told((event) =>
      event.name === 'terminal_output' ? [placed(event.payload.position, event.payload.content)] : [],
    ),
    `${name}: output`,
  ).toEqual(outputs(since))
  expect(
    told((event) =>
      event.name === 'chat_message' ? [placed(event.payload.position, event.payload.message)] : [],
    ),
    `${name}: messages`,
  ).toEqual(messages(since))
  expect(
    told((event) =>
      event.name === 'chat_message_delta' ? [placed(event.payload.position, event.payload.text)] : [],
    ),
    `${name}: text as it was written`,
  ).toEqual(
    since.flatMap((event) =>
      event.type === 'MessageTextRecorded' ? [placed(event.position, event.content?.text ?? '')] : [],
    ),
  )
  const ofTaskStream = since.filter(({ stream }) => stream === taskStream(taskId))
  expect(
    told((event) =>
      event.name === 'task_event' || event.name === 'chat_message' ? [event.payload.position] : [],
    ),
    `${name}: events and messages in their place`,
  ).toEqual(ofTaskStream.map(({ position }) => position))
  expect(
    told((event) => (event.name === 'chat_message_status_changed' ? [event.payload.position] : [])),
    `${name}: how the message fares`,
  ).toEqual(ofTaskStream.filter(({ type }) => faring.has(type)).map(({ position }) => position))
  holdStatuses(seen, after)
}

/**
 * Checks the statuses: those that passed while nobody listened are reported as the latest one. Each reported status is correct at its position, and
 * reported once.
 */
function holdStatuses({ name, heard }: Seen, after: Recorded['after']): void {
  const told = heard.flatMap((event) => (event.name === 'task_status_changed' ? [event.payload] : []))
  const places = told.map(({ position }) => position)
  const inOrder = [...new Set(places)].toSorted(comparePositions)
  expect(places, `${name}: statuses, once and in order`).toEqual(inOrder)
  for (const { position, status, progress } of told)
    expect({ status, progress }, `${name}: status at ${position}`).toEqual({
      status: after.get(position)?.status,
      progress: after.get(position)?.progress,
    })
  expect(told.at(-1), `${name}: the last status`).toMatchObject({ status: 'completed' })
}
