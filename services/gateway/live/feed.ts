/**
 * What viewers are told, in the log's own order. One subscription to the log feeds every room of this gateway, so that one position says
 * exactly what a viewer has seen. Who joins is in the room at once, and the history is read up to that now, beside the subscription:
 * what comes meanwhile is held back for them, so that nothing is missed or told twice, and nobody else waits.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { ResumeCursor } from '#domain/api/socket.schema.ts'
import { comparePositions, type Position, type StoredEvent } from '#domain/kernel/event.ts'
import { parseStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { tasksView, toolCallsThatShow, type TaskDocument } from '#domain/views/tasks.ts'
import { project, type AnyRecorded } from '#domain/views/view.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { ImageAddresses } from '#platform/images/addresses.ts'
import type { LiveWords } from '#platform/eventlog/liveWords.ts'
import type { Logger } from '#platform/log.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { limitConcurrency, serialize } from '#platform/async/queue.ts'
import { now, type Emit } from '#platform/telemetry/telemetry.ts'
import { backlog, type Backlog } from './boundedBuffer.ts'
import { ownersOfTasks } from './taskOwners.ts'
import { createPace } from './throttle.ts'
import {
  socketMessagesOf,
  statusOf,
  type Around,
  type ExecutionEvent,
  type SocketMessage,
} from './socketMessages.ts'

/** Somebody who is told things. */
export interface Viewer {
  say(saying: SocketMessage): void
  /** A session of the person that this viewer follows has ended. */
  sessionEnded(sessionId: string): void
}

export interface Feed {
  /**
   * Tells the viewer all of the task from now on, and first what came after `last`. The answer's position is the one up to which the
   * history holds everything. With more missed than `replayedAtMost`, nothing is replayed and `resync` is true.
   */
  join(
    taskId: string,
    viewer: Viewer,
    last: ResumeCursor | null,
  ): Promise<{ resync: boolean; position: Position | null }>
  leave(taskId: string, viewer: Viewer): void
  /**
   * Tells the viewer each change of status of the person's tasks, how far they have come, and each end of a session of theirs. How far a task
   * has come is told at once and then at most every `progressEveryMs`, always with the last.
   */
  follow(userId: string, viewer: Viewer): void
  unfollow(userId: string, viewer: Viewer): void
  stop(): Promise<void>
}

interface Room {
  readonly viewers: Map<Viewer, Place>
  /** At least as new as what was told: it may have been read ahead of it. */
  task: TaskDocument | undefined
}

/** A viewer's place in a room. */
interface Place {
  /** What it has heard elsewhere, which may be ahead of what was told here. */
  readonly last: ResumeCursor | null
  /** What is held back until its history was told; `null` when it hears at once. */
  held: Backlog<SocketMessage> | null
}

/** Tasks whose calls of tools are counted: more than run at once. */
const countedTasks = 1_000

/**
 * Counts the tools that turns call. The first of them move the progress; a box can call tools without end, and each that is looked at is
 * one for which everybody's events wait.
 */
function toolCalls() {
  const counted = new LRUCache<string, { readonly executionId: string; readonly count: number }>({
    max: countedTasks,
  })
  return {
    doShow({ type, data }: Pick<StoredEvent, 'type' | 'data'>, taskId: string): boolean {
      const call = type === 'ToolStarted' ? Call.safeParse(data).data : undefined
      if (!call) return false
      const { executionId } = call
      const before = counted.get(taskId)
      const count = before?.executionId === executionId ? before.count + 1 : 1
      counted.set(taskId, { executionId, count })
      return count <= toolCallsThatShow
    },
  }
}
const Call = z.object({ executionId: z.string() })

/** What of an event is in neither the event nor its task. */
type More = Pick<Around, 'isCommand' | 'edited' | 'ended'>
const nothingMore: More = { isCommand: false }

const batch = 500
/** Each event is at most four sayings, and its text is said at most twice, all at once: together they must fit what a socket may hold back. */
const replayedAtMost = { events: 1_000, characters: 4 * 1_048_576 }
/** Each holds what it reads, and takes a share of the process from who hears live. */
const joinsAtOnce = 8
const statusEvents = new Set([
  'TaskCreated',
  'ExecutionRequested',
  'ExecutionStarted',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
])
/** Beside calls of tools. */
const progressEvents = new Set(['WorkspacePrepared', 'AgentStarted'])
/** Fast enough for a bar, and few enough for somebody with hundreds of tasks that run. */
export const progressEveryMs = 250

export async function startFeed(engines: {
  eventStore: EventStore
  log: EventLog
  documents: Documents
  imageAddresses: Pick<ImageAddresses, 'addressOf'>
  words: Pick<LiveWords, 'hear'>
  emit: Emit
  logger: Logger
}): Promise<Feed> {
  const { eventStore, log, documents, emit } = engines
  const { addressOf } = engines.imageAddresses
  const rooms = new Map<string, Room>()
  /** What came of the tasks whose rooms are being opened. */
  const opening = new Map<string, { readonly held: Backlog<StoredEvent>; readonly done: Promise<void> }>()
  const followers = new Map<string, Set<Viewer>>()
  const owners = ownersOfTasks(documents, log)
  const calls = toolCalls()
  const inLine = limitConcurrency(joinsAtOnce)
  let reached = await eventStore.head()
  const serialized = serialize()

  const progress = createPace<StoredEvent>(progressEveryMs, serialized, async (taskId, stored) => {
    if (followers.size === 0) return
    const event = await log.open(stored)
    const task = rooms.get(taskId)?.task ?? (await taskAfter(undefined, event, taskId))
    if (task) tellFollowers(event, task)
  })

  const subscription = eventStore.subscribe(reached, batch, (events) =>
    serialized(async () => {
      if (followers.size > 0) await owners.learn(events.filter(mayTellFollowers))
      for (const event of events) {
        // A batch that failed half way is given again: what was told of it is not told twice.
        if (isCovered(event.position, reached)) continue
        const tell = await prepare(event).catch(passingOver(event))
        tell()
        holdForRoom(event)
        reached = event.position
      }
    }),
  )

  // Beside the log's order: what is recorded of a message comes in its turn, and takes the place of these.
  const deafen = engines.words.hear(
    (taskId) => rooms.has(taskId),
    (words) => {
      // The next words hold these again, for who is still told the history.
      for (const [viewer, { held }] of rooms.get(words.taskId)?.viewers ?? [])
        if (held === null) viewer.say(['chat_message_words', words])
    },
  )

  /** What cannot be read is told to nobody, and holds up nobody. */
  const passingOver = (event: StoredEvent) => (fault: unknown) => {
    if (!(fault instanceof UnreadableEvent)) throw fault
    const { stream, revision } = event
    engines.logger.warn(
      { stream, revision, reason: fault.reason },
      'skipped an unreadable event on the socket',
    )
    return () => undefined
  }

  /** All that may fail comes before the first word, so that an event is told whole or not at all. */
  async function prepare(stored: StoredEvent): Promise<() => void> {
    const stream = parseStream(stored.stream)
    if (stream.kind === 'user' && stored.type === 'SessionEnded' && followers.has(stream.id)) {
      const event = await log.open(stored)
      return () => tellSessionEnded(event, stream.id)
    }
    if (stream.kind !== 'task' && stream.kind !== 'terminal') return () => undefined
    const room = rooms.get(stream.id)
    const change = stream.kind === 'task' ? await changeOf(stored, stream.id) : null
    const isDue = change === 'status' || (change === 'progress' && progress.isFree(stream.id))
    // What waits is not looked up before it is told.
    if (!room && !isDue) return () => keepPace(change, isDue, stored, stream.id)
    const event = await log.open(stored)
    const task = stream.kind === 'task' ? await taskAfter(room, event, stream.id) : room?.task
    const more = room === undefined ? nothingMore : await moreOf(event, task, stream.id)
    return () => {
      if (room) tellRoom(room, event, { task, more })
      if (isDue && task) tellFollowers(event, task)
      keepPace(change, isDue, stored, stream.id)
    }
  }

  /** What of a task an event changes for who follows its owner here. */
  async function changeOf(stored: StoredEvent, taskId: string): Promise<'status' | 'progress' | null> {
    if (followers.size === 0 || !mayTellFollowers(stored)) return null
    const owner = owners.known(taskId) ?? (await owners.read(taskId))
    if (owner === null || !followers.has(owner)) return null
    if (statusEvents.has(stored.type)) return 'status'
    return progressEvents.has(stored.type) || calls.doShow(stored, taskId) ? 'progress' : null
  }

  /** A change of status tells the progress as well. */
  function keepPace(
    change: 'status' | 'progress' | null,
    isTold: boolean,
    stored: StoredEvent,
    taskId: string,
  ) {
    if (change === 'status') progress.forget(taskId)
    else if (change === 'progress' && isTold) progress.said(taskId)
    else if (change === 'progress') progress.wait(taskId, stored)
  }

  async function taskAfter(room: Room | undefined, event: AnyRecorded, taskId: string) {
    if (room) return project(tasksView, room.task, event, taskId)
    const head = { revision: event.revision, hash: event.meta.hash }
    return documents.asOf(tasksView, event.stream, taskId, head)
  }

  /** What must be looked up to say the event. */
  async function moreOf(event: AnyRecorded, task: TaskDocument | undefined, taskId: string): Promise<More> {
    if (event.type === 'MessageEdited') {
      return { isCommand: false, edited: await messageAsOf(event, taskId, event.data.messageId) }
    }
    if (event.type === 'MessageWithdrawn') {
      const before = { position: event.position, stream: event.stream, revision: event.revision - 1 }
      return {
        isCommand: false,
        edited: await messageAsOf({ ...event, ...before }, taskId, event.data.messageId),
      }
    }
    const isCommand = await isOfCommand(event, task, taskId)
    if (!isCommand || !isExecutionEvent(event) || event.type === 'ExecutionStarted') return { isCommand }
    return { isCommand, ended: await messageAsOf(event, taskId, event.data.messageId) }
  }

  function messageAsOf(event: AnyRecorded, taskId: string, messageId: string) {
    const head = { revision: event.revision, hash: event.meta.hash }
    return documents.asOf(chatView, taskStream(taskId), messageDocumentId(taskId, messageId), head)
  }

  /** The task knows its present execution; of an earlier one, the message that it worked on tells. */
  async function isOfCommand(event: AnyRecorded, task: TaskDocument | undefined, taskId: string) {
    if (!isExecutionEvent(event)) return false
    if (task?.execution?.id === event.data.executionId) return task.execution.kind === 'command'
    const message = await messageAsOf(event, taskId, event.data.messageId)
    return message?.isCommand === true
  }

  function tellRoom(
    room: Room,
    event: AnyRecorded,
    { task: after, more }: { task: TaskDocument | undefined; more: More },
  ): void {
    const isOfTask = event.stream === taskStream(room.task?.id ?? '')
    const isAhead = isOfTask && (room.task?.version ?? -1) >= event.revision
    // What the event changed can no longer be seen in a document that was read ahead of it.
    const before = isAhead ? undefined : room.task
    room.task = after
    const sayings = socketMessagesOf(event, { before, after, ...more }, addressOf)
    const told: { viewer: Viewer; sayings: readonly SocketMessage[] }[] = []
    for (const [viewer, { last, held }] of room.viewers) {
      const fresh = sayings.slice(heardOf(event.position, last))
      if (held === null) told.push({ viewer, sayings: fresh })
      else held.add(fresh, charactersOf(event))
    }
    tell(event, told)
  }

  function tell(
    event: AnyRecorded,
    words: readonly { viewer: Viewer; sayings: readonly SocketMessage[] }[],
  ): void {
    const begun = now()
    for (const { viewer, sayings } of words) for (const saying of sayings) viewer.say(saying)
    const said = words.reduce((sum, { sayings }) => sum + sayings.length, 0)
    if (said > 0) emit({ kind: 'said', event, sayings: said, begun, ended: now() })
  }

  function tellFollowers(event: AnyRecorded, task: TaskDocument): void {
    const saying: SocketMessage = ['global_task_status_changed', statusOf(event, task)]
    tell(
      event,
      [...(followers.get(task.owner) ?? [])].map((viewer) => ({ viewer, sayings: [saying] })),
    )
  }

  function tellSessionEnded(event: AnyRecorded, userId: string): void {
    if (event.type !== 'SessionEnded') return
    for (const viewer of followers.get(userId) ?? []) viewer.sessionEnded(event.data.sessionId)
  }

  /** What a viewer missed, from both streams, in position order; `undefined` when it is too much. */
  async function missed(
    taskId: string,
    last: ResumeCursor,
    upTo: Position | null,
  ): Promise<{ readonly events: readonly AnyRecorded[]; readonly characters: number } | undefined> {
    const events: AnyRecorded[] = []
    let characters = 0
    for (const stream of [taskStream(taskId), terminalStream(taskId)]) {
      let from: number | 'end' = 'end'
      reading: for (;;) {
        const page = await log.readBackwards(stream, from, batch, upTo ?? undefined)
        for (const event of page) {
          if (heardOf(event.position, last) === Infinity) break reading
          // What comes through the subscription is not told twice.
          if (!isCovered(event.position, upTo)) continue
          events.push(event)
          characters += charactersOf(event)
          if (events.length > replayedAtMost.events || characters > replayedAtMost.characters)
            return undefined
        }
        const oldest = page.at(-1)
        if (!oldest || oldest.revision === 0) break
        from = oldest.revision - 1
      }
    }
    return { events: events.sort((a, b) => comparePositions(a.position, b.position)), characters }
  }

  /** What is said of missed events. How the status changed meanwhile is not known, so what it came to is said with the last of them. */
  async function replayOf(
    taskId: string,
    task: TaskDocument | undefined,
    events: readonly AnyRecorded[],
    last: ResumeCursor | null,
  ): Promise<readonly SocketMessage[]> {
    const lastOfTask = events.findLast((event) => event.stream === taskStream(taskId))
    const sayings: SocketMessage[] = []
    for (const event of events) {
      const more = await moreOf(event, task, taskId)
      const ofEvent = socketMessagesOf(event, { before: task, after: task, ...more }, addressOf)
      // A change of status is the last that is said of an event, live too: who has heard it counted it.
      if (event === lastOfTask && task) ofEvent.push(['task_status_changed', statusOf(event, task)])
      sayings.push(...ofEvent.slice(heardOf(event.position, last)))
    }
    return sayings
  }

  /** Whether the viewer has heard of what the log does not have: it was restored to an earlier state since. */
  async function isBeyondTheLog(last: ResumeCursor): Promise<boolean> {
    const position = typeof last === 'string' ? last : last.position
    // It may have heard from another gateway what comes here next.
    return !isCovered(position, reached) && !isCovered(position, await eventStore.head())
  }

  /** Of a task whose room is being opened: what it changes is folded in before anybody enters. */
  function holdForRoom(event: StoredEvent): void {
    const { kind, id } = { id: '', ...parseStream(event.stream) }
    if (kind === 'task') opening.get(id)?.held.add([event], event.content?.length ?? 0)
  }

  /** Opens the room of a task, once for all who wait for it. */
  function openWorkspaceEviction(taskId: string): Promise<void> {
    const held = backlog<StoredEvent>(replayedAtMost)
    const done = readRoom(taskId, held).finally(() => opening.delete(taskId))
    opening.set(taskId, { held, done })
    return done
  }

  async function readRoom(taskId: string, held: Backlog<StoredEvent>): Promise<void> {
    const early = await documents.now(tasksView, taskStream(taskId), taskId)
    // Between two events, so that none is in neither.
    await serialized(async () => {
      const items = held.items()
      let task = items === null ? await documents.now(tasksView, taskStream(taskId), taskId) : early
      for (const stored of items ?? []) {
        try {
          task = project(tasksView, task, await log.open(stored), taskId)
        } catch (fault) {
          passingOver(stored)(fault)
        }
      }
      rooms.set(taskId, { viewers: new Map(), task })
    })
  }

  async function join(taskId: string, viewer: Viewer, named: ResumeCursor | null) {
    const isForeign = named !== null && (await isBeyondTheLog(named))
    const last = isForeign ? null : named
    while (!rooms.has(taskId)) await (opening.get(taskId)?.done ?? openWorkspaceEviction(taskId))
    const room = rooms.get(taskId)
    if (!room) throw new Error('A room that was there is gone within a turn.')
    const held = last === null ? null : backlog<SocketMessage>(replayedAtMost)
    const place: Place = { last, held }
    room.viewers.set(viewer, place)
    emit({ kind: 'rooms', open: rooms.size })
    // Nothing to read: everything from now on is told, and nothing before.
    if (last === null || held === null) return { resync: isForeign, position: reached }
    const { task } = room
    try {
      const history = await missed(taskId, last, reached).catch((fault: unknown) => {
        // What is left of it is in the history that is read anew.
        if (fault instanceof UnreadableEvent) return undefined
        throw fault
      })
      await nextTurn()
      const replay = history && (await replayOf(taskId, task, history.events, last))
      await nextTurn()
      const after = history && held.items(history.events.length, history.characters)
      const isWhole = replay !== undefined && after !== undefined && after !== null
      const sayings = isWhole ? [...replay, ...after] : []
      for (const saying of sayings) viewer.say(saying)
      emit({ kind: 'replayed', sayings: sayings.length })
      place.held = null
      return { resync: !isWhole, position: reached }
    } catch (fault) {
      if (room.viewers.get(viewer) === place) leave(taskId, viewer)
      throw fault
    }
  }

  function leave(taskId: string, viewer: Viewer): void {
    const room = rooms.get(taskId)
    room?.viewers.delete(viewer)
    if (room?.viewers.size === 0) rooms.delete(taskId)
    emit({ kind: 'rooms', open: rooms.size })
  }

  return {
    join: (taskId, viewer, named) =>
      inLine(async () => {
        // An engine in this process answers within a turn: who hears live comes between two steps of a join.
        await nextTurn()
        return join(taskId, viewer, named)
      }),
    leave,
    follow(userId, viewer) {
      followers.set(userId, (followers.get(userId) ?? new Set()).add(viewer))
    },
    unfollow(userId, viewer) {
      const viewers = followers.get(userId)
      viewers?.delete(viewer)
      if (viewers?.size === 0) followers.delete(userId)
    },
    async stop() {
      deafen()
      await subscription.stop()
      progress.stop()
    },
  }
}

function isCovered(position: Position, by: Position | null): boolean {
  return by !== null && comparePositions(position, by) <= 0
}

/** How many sayings of the event at a position are heard: infinitely many if all. */
function heardOf(position: Position, last: ResumeCursor | null): number {
  if (last === null) return 0
  const whole = typeof last === 'string'
  const order = comparePositions(position, whole ? last : last.position)
  if (order > 0) return 0
  return order < 0 || whole ? Infinity : last.sayings
}

/** How much of a bound on characters an event takes. */
function charactersOf({ content }: AnyRecorded): number {
  return JSON.stringify(content).length
}

/** Whether who follows the owner of the task may have to hear of it. */
function mayTellFollowers({ type, stream }: StoredEvent): boolean {
  return (
    (statusEvents.has(type) || progressEvents.has(type) || type === 'ToolStarted') &&
    parseStream(stream).kind === 'task'
  )
}

function isExecutionEvent(event: AnyRecorded): event is ExecutionEvent {
  return (
    event.type === 'ExecutionStarted' ||
    event.type === 'ExecutionCompleted' ||
    event.type === 'ExecutionFailed' ||
    event.type === 'ExecutionCancelled'
  )
}
