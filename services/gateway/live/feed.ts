/**
 * Sends the events of tasks to viewers, in the order of the log. All rooms of this gateway share one subscription to the log, so that a single
 * position says what a viewer has seen. A viewer who joins enters the room at once. The events that the viewer has missed are read up to that moment;
 * meanwhile, new messages are held back for this viewer. So the viewer misses nothing, gets nothing twice, and delays nobody else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ResumeCursor } from '#domain/api/socket.schema.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { parseStream, taskStream } from '#domain/kernel/streams.ts'
import type { AddressOf } from '#domain/views/images.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { project, type AnyRecorded } from '#domain/views/view.ts'
import { orElse } from '#platform/async/orElse.ts'
import { limitConcurrency, serialize, type Serialize } from '#platform/async/queue.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { LiveWords, Words } from '#platform/live/liveWords.ts'
import type { ImageAddresses } from '#platform/images/addresses.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus } from '#platform/ports/bus.ts'
import { intact, isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { now, type Emit } from '#platform/telemetry/telemetry.ts'
import { boundedBuffer, type BoundedBuffer } from './boundedBuffer.ts'
import { contextOf, noContext, taskAfter, type EventContext } from './eventContext.ts'
import {
  growingMessages,
  partialChatMessage,
  type GrowingMessage,
  type GrowingMessages,
} from './growingMessages.ts'
import { listChanges, mayChangeLists, type ListChange, type ListChanges } from './listChanges.ts'
import { charactersOf, isCovered, missedEvents, receivedOf, replayLimits, missedMessages } from './replay.ts'
import { socketMessagesOf, statusOf, type SocketMessage } from './socketMessages.ts'
import { ownersOfTasks, type Owners } from './taskOwners.ts'
import { throttle, type Throttle } from './throttle.ts'

/** A connection that messages are sent to. */
export interface Viewer {
  /**
   * Whether the client has said that it knows `chat_message_words`. To other clients, an unfinished message is also sent as `chat_message`, again and
   * again while it grows.
   */
  readonly knowsWords: boolean
  send(message: SocketMessage): void
  /** Called when a session of the followed person has ended. */
  sessionEnded(sessionId: string): void
}

export interface Feed {
  /**
   * Sends the viewer the task's messages after `last`, if given, and then all new ones. Events up to the returned position are in the history that
   * the client can read. If the missed messages cannot be sent, for example because they exceed `replayLimits`, none is sent and `resync` is true.
   */
  join(taskId: string, viewer: Viewer, last: ResumeCursor | null): Promise<Joined>
  leave(taskId: string, viewer: Viewer): void
  /**
   * Sends the viewer each change of status and progress of the person's tasks, and the end of each of the person's sessions. Progress of a task is
   * sent at once and then at most every `progressIntervalMs`; the latest progress is always sent.
   */
  follow(userId: string, viewer: Viewer): void
  unfollow(userId: string, viewer: Viewer): void
  /** The people with a connected viewer, and the tasks that are being viewed. */
  present(): { readonly userIds: readonly string[]; readonly taskIds: readonly string[] }
  stop(): Promise<void>
}

export interface Joined {
  readonly resync: boolean
  readonly position: Position | null
}

interface Room {
  readonly viewers: Map<Viewer, ViewerState>
  /** The task's document. It is at least as new as the last sent event, and may already contain later events. */
  task: TaskDocument | undefined
  readonly growing: GrowingMessages
}

interface ViewerState {
  /** How far the viewer had got before it joined, perhaps at another gateway, which may be ahead of this one. */
  readonly last: ResumeCursor | null
  /** New messages while the viewer's history is read; `null` when messages are sent at once. */
  held: BoundedBuffer<SocketMessage> | null
}

export interface FeedEngines {
  readonly eventStore: EventStore
  readonly log: EventLog
  readonly documents: Documents
  readonly imageAddresses: Pick<ImageAddresses, 'addressOf'>
  readonly words: Pick<LiveWords, 'hear'>
  readonly bus: Pick<Bus, 'subscribe'>
  readonly emit: Emit
  readonly logger: Logger
}

interface FeedState extends FeedEngines {
  readonly addressOf: AddressOf
  readonly rooms: Map<string, Room>
  /** Rooms that are being opened, each with the events of its task that came since the opening began. */
  readonly opening: Map<string, { readonly held: BoundedBuffer<StoredEvent>; readonly done: Promise<void> }>
  /** Viewers by the id of the person whose tasks they follow. */
  readonly followers: Map<string, Set<Viewer>>
  readonly owners: Owners
  readonly changes: ListChanges
  readonly progress: Throttle<StoredEvent>
  /** Runs batches of events, and openings of rooms, one after the other. */
  readonly serialized: Serialize
  /** The position up to which every event was sent. */
  reached: Position | null
}

const batch = 500
/** The maximum number of simultaneous joins: each join keeps the events that it reads in memory, and takes processor time from live viewers. */
const joinsAtOnce = 8
/** Progress is sent often enough for a progress bar, and rarely enough for somebody with hundreds of running tasks. */
export const progressIntervalMs = 250

/** Starts a feed at the end of the log. */
export async function startFeed(engines: FeedEngines): Promise<Feed> {
  const { eventStore, documents, log, words, bus } = engines
  const serialized = serialize()
  const feed: FeedState = {
    ...engines,
    addressOf: engines.imageAddresses.addressOf,
    rooms: new Map(),
    opening: new Map(),
    followers: new Map(),
    owners: ownersOfTasks(documents, log),
    changes: listChanges(),
    progress: throttle(progressIntervalMs, serialized, (taskId, stored) =>
      sendProgress(feed, taskId, stored).catch((fault: unknown) => skipUnreadable(feed, stored, fault)),
    ),
    serialized,
    reached: await eventStore.head(),
  }
  const limited = limitConcurrency(joinsAtOnce)
  const subscription = eventStore.subscribe(feed.reached, batch, (events) =>
    serialized(() => sendBatch(feed, events)),
  )
  const stopHearing = words.hear(
    (taskId) => feed.rooms.has(taskId),
    (heard) => sendWords(feed, heard),
  )
  const stopWatching = bus.subscribe('quarantine', ({ stream }) => {
    void serialized(() => tellQuarantine(feed, stream)).catch((fault: unknown) =>
      engines.logger.warn({ err: fault, stream }, 'failed to tell viewers of a damaged stream'),
    )
  })
  return {
    join: (taskId, viewer, last) =>
      limited(async () => {
        // An engine in this process answers within the same turn of the event loop, so the join yields here to let live events be sent.
        await nextTurn()
        return join(feed, taskId, viewer, last)
      }),
    leave: (taskId, viewer) => leave(feed, taskId, viewer),
    follow(userId, viewer) {
      feed.followers.set(userId, (feed.followers.get(userId) ?? new Set()).add(viewer))
    },
    unfollow(userId, viewer) {
      const viewers = feed.followers.get(userId)
      viewers?.delete(viewer)
      if (viewers?.size === 0) feed.followers.delete(userId)
    },
    present: () => ({ userIds: [...feed.followers.keys()], taskIds: [...feed.rooms.keys()] }),
    async stop() {
      stopHearing()
      stopWatching()
      await subscription.stop()
      feed.progress.stop()
    },
  }
}

async function sendBatch(feed: FeedState, events: readonly LogRecord[]): Promise<void> {
  if (feed.followers.size > 0) await feed.owners.learn(intact(events).filter(mayChangeLists))
  for (const event of events) {
    // A batch that failed halfway is delivered again: events that were already sent are skipped.
    if (isCovered(event.position, feed.reached)) continue
    const send = await prepare(feed, event).catch((fault: unknown) => {
      skipUnreadable(feed, event, fault)
      return () => undefined
    })
    send()
    if (!isDamaged(event)) holdForOpeningRoom(feed, event)
    feed.reached = event.position
  }
}

/** Reports that a task's record was found damaged, or was repaired: viewers of the task read it again, and its owner's lists show the new status. */
async function tellQuarantine(feed: FeedState, stream: string): Promise<void> {
  const { kind, id: taskId } = { id: '', ...parseStream(stream) }
  if (kind !== 'task' && kind !== 'terminal') return
  const task = await feed.documents.get(tasksView, taskId)
  const room = feed.rooms.get(taskId)
  if (room) room.task = task
  for (const viewer of room?.viewers.keys() ?? []) viewer.send(['task_resync', { taskId }])
  if (!task) return
  const { status, progress, version } = task
  const position = feed.reached ?? task.position
  const change = { taskId, status, progress, position, version, commandId: '' }
  for (const viewer of feed.followers.get(task.owner) ?? [])
    viewer.send(['global_task_status_changed', change])
}

/** Sends pieces of text that are outside the order of the log. Viewers replace the pieces when the log has recorded their message. */
function sendWords(feed: FeedState, { isThought, ...words }: Words): void {
  const message: SocketMessage = isThought ? ['thought_words', words] : ['chat_message_words', words]
  const room = feed.rooms.get(words.taskId)
  const { id, endedAt } = room?.task?.execution ?? { endedAt: null }
  // A runner that was suspended goes on with an execution that another one has ended meanwhile. No event would withdraw these words.
  if (id === words.executionId && endedAt !== null) return
  // Skips a viewer whose history is still being read: the next pieces contain this text too.
  for (const [viewer, { held }] of room?.viewers ?? []) if (held === null) viewer.send(message)
  const grown = room && !isThought && isForOthers(room) && room.growing.add(words)
  if (grown) sendPartial(feed, room, grown)
}

/** Whether any viewer does not know `chat_message_words`. Growing messages are kept only for such viewers. */
const isForOthers = ({ viewers }: Room) => [...viewers.keys()].some(({ knowsWords }) => !knowsWords)

/** Sends the written part of a message to the viewers that do not know `chat_message_words`. */
function sendPartial(
  { reached }: FeedState,
  { task, viewers }: Room,
  grown: GrowingMessage,
  isVisible = true,
): void {
  const others = [...viewers].filter(([viewer, { held }]) => held === null && !viewer.knowsWords)
  if (others.length === 0 || task === undefined || reached === null) return
  const message = { ...partialChatMessage(grown, task, reached), isVisible, commandId: '' }
  for (const [viewer] of others) viewer.send(['chat_message', message])
}

/** Keeps the growing messages of a room in step with an event that was sent. A message that will never be complete is withdrawn. */
function noteGrowth(feed: FeedState, room: Room, event: AnyRecorded): void {
  switch (event.type) {
    case 'MessageTextRecorded': {
      const grown =
        event.content && isForOthers(room) && room.growing.add({ ...event.data, text: event.content.text })
      if (grown) sendPartial(feed, room, grown)
      return
    }
    case 'MessagePosted':
      return room.growing.complete(event.data.messageId)
    case 'ExecutionStarted':
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      for (const message of room.growing.abandon(event.data.executionId))
        sendPartial(feed, room, message, false)
  }
}

/** Logs an event that cannot be read. It is sent to nobody and does not stop the feed. */
function skipUnreadable({ logger }: FeedState, { stream, revision }: LogRecord, fault: unknown): void {
  if (!(fault instanceof UnreadableEvent)) throw fault
  logger.warn({ stream, revision, reason: fault.reason }, 'skipped an unreadable event on the socket')
}

/**
 * Prepares an event: everything that can fail comes before the first message is sent, so that an event is sent completely or not at all. Returns the
 * function that sends.
 */
async function prepare(feed: FeedState, record: LogRecord): Promise<() => void> {
  const { log, documents, followers, rooms, progress } = feed
  if (isDamaged(record)) {
    await log.open(record)
    return () => undefined
  }
  const stored = record
  const stream = parseStream(stored.stream)
  if (stream.kind === 'user' && stored.type === 'SessionEnded' && followers.has(stream.id)) {
    const event = await log.open(stored)
    return () => sendSessionEnded(feed, event, stream.id)
  }
  if (stream.kind !== 'task' && stream.kind !== 'terminal') return () => undefined
  const room = rooms.get(stream.id)
  const change = stream.kind === 'task' ? await changeOf(feed, stored, stream.id) : null
  const isDue = change === 'status' || (change === 'progress' && progress.isFree(stream.id))
  // No viewer is in the room, and nothing is due. Waiting progress is decrypted only when it is sent.
  if (!room && !isDue) return () => noteProgress(feed, change, isDue, stored, stream.id)
  const event = await log.open(stored)
  const task = stream.kind === 'task' ? await taskAfter(documents, room, event, stream.id) : room?.task
  const context = room === undefined ? noContext : await contextOf(documents, event, task, stream.id)
  return () => {
    if (room) {
      sendToRoom(feed, room, event, { task, context })
      noteGrowth(feed, room, event)
    }
    if (isDue && task) sendToFollowers(feed, event, task)
    noteProgress(feed, change, isDue, stored, stream.id)
  }
}

/** The effect of the event on the lists of the task's owner; `null` when there is none, or when the owner has no viewer here. */
async function changeOf(feed: FeedState, stored: StoredEvent, taskId: string): Promise<ListChange | null> {
  const { followers, owners, changes } = feed
  if (followers.size === 0 || !mayChangeLists(stored)) return null
  const owner = owners.known(taskId) ?? (await owners.read(taskId))
  return owner === null || !followers.has(owner) ? null : changes.of(stored, taskId)
}

/**
 * Remembers that the task's progress was sent, or has it sent later. A message about a status contains the progress too, so nothing is left to send.
 */
function noteProgress(
  { progress }: FeedState,
  change: ListChange | null,
  isSent: boolean,
  stored: StoredEvent,
  taskId: string,
): void {
  if (change === 'status') progress.forget(taskId)
  else if (change === 'progress' && isSent) progress.sent(taskId)
  else if (change === 'progress') progress.wait(taskId, stored)
}

async function sendProgress(feed: FeedState, taskId: string, stored: StoredEvent): Promise<void> {
  if (feed.followers.size === 0) return
  const event = await feed.log.open(stored)
  const known = feed.rooms.get(taskId)?.task
  const task = known ?? (await taskAfter(feed.documents, undefined, event, taskId))
  if (task) sendToFollowers(feed, event, task)
}

function sendToRoom(
  feed: FeedState,
  room: Room,
  event: AnyRecorded,
  { task: after, context }: { task: TaskDocument | undefined; context: EventContext },
): void {
  const isOfTask = event.stream === taskStream(room.task?.id ?? '')
  const isAhead = isOfTask && (room.task?.version ?? -1) >= event.revision
  // If the task's document is already ahead of the event, it no longer shows the state before the event.
  const before = isAhead ? undefined : room.task
  room.task = after
  const messages = socketMessagesOf(event, { before, after, ...context }, feed.addressOf)
  const deliveries: Delivery[] = []
  for (const [viewer, { last, held }] of room.viewers) {
    const fresh = messages.slice(receivedOf(event.position, last))
    if (held === null) deliveries.push({ viewer, messages: fresh })
    else held.add(fresh, charactersOf(event))
  }
  deliver(feed, event, deliveries)
}

function sendToFollowers(feed: FeedState, event: AnyRecorded, task: TaskDocument): void {
  const messages: SocketMessage[] = [['global_task_status_changed', statusOf(event, task)]]
  const viewers = [...(feed.followers.get(task.owner) ?? [])]
  deliver(
    feed,
    event,
    viewers.map((viewer) => ({ viewer, messages })),
  )
}

function sendSessionEnded({ followers }: FeedState, event: AnyRecorded, userId: string): void {
  if (event.type !== 'SessionEnded') return
  for (const viewer of followers.get(userId) ?? []) viewer.sessionEnded(event.data.sessionId)
}

interface Delivery {
  readonly viewer: Viewer
  readonly messages: readonly SocketMessage[]
}

function deliver({ emit }: FeedState, event: AnyRecorded, deliveries: readonly Delivery[]): void {
  const begun = now()
  for (const { viewer, messages } of deliveries) for (const message of messages) viewer.send(message)
  const count = deliveries.reduce((sum, { messages }) => sum + messages.length, 0)
  if (count > 0) emit({ kind: 'messages_sent', event, messages: count, begun, ended: now() })
}

async function join(
  feed: FeedState,
  taskId: string,
  viewer: Viewer,
  cursor: ResumeCursor | null,
): Promise<Joined> {
  const isForeign = cursor !== null && (await isBeyondTheLog(feed, cursor))
  const last = isForeign ? null : cursor
  while (!feed.rooms.has(taskId)) await (feed.opening.get(taskId)?.done ?? openRoom(feed, taskId))
  const room = feed.rooms.get(taskId)
  if (!room) throw new Error('A room that was open is gone within a turn.')
  const state: ViewerState = { last, held: last === null ? null : boundedBuffer(replayLimits) }
  room.viewers.set(viewer, state)
  feed.emit({ kind: 'rooms', open: feed.rooms.size })
  // Nothing is sent again to a viewer without a cursor.
  if (last === null) return { resync: isForeign, position: feed.reached }
  try {
    return await replay(feed, { taskId, viewer, task: room.task, last, state })
  } catch (fault) {
    if (room.viewers.get(viewer) === state) leave(feed, taskId, viewer)
    throw fault
  }
}

/** Sends the missed messages, then the messages that were held back, or nothing at all when there are too many or an event cannot be read. */
async function replay(
  feed: FeedState,
  joining: {
    readonly taskId: string
    readonly viewer: Viewer
    readonly task: TaskDocument | undefined
    readonly last: ResumeCursor
    readonly state: ViewerState
  },
): Promise<Joined> {
  const { taskId, viewer, task, last, state } = joining
  const missed = await missedEvents(feed.log, taskId, last, feed.reached)
    // If an event cannot be read, the client reads the history again, up to that event.
    .catch(orElse(UnreadableEvent, undefined))
  await nextTurn()
  const before = missed && (await missedMessages(feed, taskId, task, missed.events, last))
  await nextTurn()
  const after = missed && state.held?.items(missed.events.length, missed.characters)
  const isWhole = before !== undefined && after !== undefined && after !== null
  const messages = isWhole ? [...before, ...after] : []
  for (const message of messages) viewer.send(message)
  feed.emit({ kind: 'messages_replayed', messages: messages.length })
  state.held = null
  return { resync: !isWhole, position: feed.reached }
}

/** Whether the log does not have the cursor's event, for example after a restore to an earlier state. */
async function isBeyondTheLog({ reached, eventStore }: FeedState, last: ResumeCursor): Promise<boolean> {
  const position = typeof last === 'string' ? last : last.position
  // Another gateway may have sent events that have not arrived here yet.
  return !isCovered(position, reached) && !isCovered(position, await eventStore.head())
}

/** Keeps the events of tasks whose room is being opened. They are applied before anybody enters. */
function holdForOpeningRoom({ opening }: FeedState, event: StoredEvent): void {
  const { kind, id } = { id: '', ...parseStream(event.stream) }
  if (kind === 'task') opening.get(id)?.held.add([event], event.content?.length ?? 0)
}

function openRoom(feed: FeedState, taskId: string): Promise<void> {
  const held = boundedBuffer<StoredEvent>(replayLimits)
  const done = readRoom(feed, taskId, held).finally(() => feed.opening.delete(taskId))
  feed.opening.set(taskId, { held, done })
  return done
}

async function readRoom(feed: FeedState, taskId: string, held: BoundedBuffer<StoredEvent>): Promise<void> {
  const { documents, log, rooms } = feed
  const read = () => documents.now(tasksView, taskStream(taskId), taskId)
  const early = await read()
  // Runs between two batches of events, so that no event is lost between reading the document and getting events from the subscription.
  await feed.serialized(async () => {
    const items = held.items()
    let task = items === null ? await read() : early
    for (const stored of items ?? []) {
      try {
        task = project(tasksView, task, await log.open(stored), taskId)
      } catch (fault) {
        skipUnreadable(feed, stored, fault)
      }
    }
    rooms.set(taskId, { viewers: new Map(), task, growing: growingMessages() })
  })
}

function leave({ rooms, emit }: FeedState, taskId: string, viewer: Viewer): void {
  const room = rooms.get(taskId)
  room?.viewers.delete(viewer)
  if (room?.viewers.size === 0) rooms.delete(taskId)
  emit({ kind: 'rooms', open: rooms.size })
}
