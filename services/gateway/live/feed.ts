/**
 * What viewers are told, in the log's own order. One subscription to the log feeds every room of this gateway, so that one position says
 * exactly what a viewer has seen; joins run in turn with its batches, so that nothing is missed between history and live.
 */
import { comparePositions, type Position, type StoredEvent } from '#domain/kernel/event.ts'
import { parseStream, taskStream, terminalStream } from '#domain/kernel/ids.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { project, type AnyRecorded } from '#domain/views/view.ts'
import type { Documents } from '#platform/commands/documents.ts'
import type { EventLog } from '#platform/commands/eventLog.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { sayingsOf, statusOf, type Saying } from './translate.ts'

/** Somebody who is told things. */
export interface Viewer {
  say(saying: Saying): void
}

export interface Feed {
  /**
   * Tells the viewer all of the task from now on, and first what came after `last`. The answer's position is the one up to which the
   * history holds everything. With more than `replayedAtMost` events missed, nothing is replayed and `resync` is true.
   */
  join(
    taskId: string,
    viewer: Viewer,
    last: Position | null,
  ): Promise<{ resync: boolean; position: Position | null }>
  leave(taskId: string, viewer: Viewer): void
  /** Tells the viewer each change of status of the person's tasks. */
  follow(userId: string, viewer: Viewer): void
  unfollow(userId: string, viewer: Viewer): void
  stop(): Promise<void>
}

interface Room {
  readonly viewers: Set<Viewer>
  task: TaskDocument | undefined
}

const batch = 500
const replayedAtMost = 5_000
const statusEvents = new Set([
  'TaskCreated',
  'ExecutionRequested',
  'ExecutionStarted',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
])

export async function startFeed(engines: {
  eventStore: EventStore
  log: EventLog
  documents: Documents
}): Promise<Feed> {
  const { eventStore, log, documents } = engines
  const rooms = new Map<string, Room>()
  const followers = new Map<string, Set<Viewer>>()
  let reached = await eventStore.head()
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work, work)
    turn = mine.catch(() => undefined)
    return mine
  }

  const subscription = eventStore.subscribe(reached, batch, (events) =>
    inTurn(async () => {
      for (const event of events) {
        await tell(event)
        reached = event.position
      }
    }),
  )

  async function tell(stored: StoredEvent): Promise<void> {
    const stream = parseStream(stored.stream)
    if (stream.kind !== 'task' && stream.kind !== 'terminal') return
    const room = rooms.get(stream.id)
    const isStatus = stream.kind === 'task' && statusEvents.has(stored.type) && followers.size > 0
    if (!room && !isStatus) return
    const event = await log.open(stored)
    if (room) tellRoom(room, event, stream.id)
    if (isStatus) await tellFollowers(event, stream.id)
  }

  function tellRoom(room: Room, event: AnyRecorded, taskId: string): void {
    const before = room.task
    if (event.stream === taskStream(taskId)) room.task = project(tasksView, before, event, taskId)
    for (const saying of sayingsOf(event, { before, after: room.task })) {
      for (const viewer of room.viewers) viewer.say(saying)
    }
  }

  async function tellFollowers(event: AnyRecorded, taskId: string): Promise<void> {
    const head = { revision: event.revision, hash: event.meta.hash }
    const task =
      rooms.get(taskId)?.task ?? (await documents.asOf(tasksView, taskStream(taskId), taskId, head))
    if (!task) return
    const saying: Saying = ['global_task_status_changed', statusOf(event, task)]
    for (const viewer of followers.get(task.owner) ?? []) viewer.say(saying)
  }

  /** What a viewer missed, from both streams, in position order; `undefined` when it is too much. */
  async function missed(taskId: string, last: Position): Promise<readonly AnyRecorded[] | undefined> {
    const events: AnyRecorded[] = []
    for (const stream of [taskStream(taskId), terminalStream(taskId)]) {
      let from: number | 'end' = 'end'
      reading: for (;;) {
        const page = await log.readBackwards(stream, from, batch)
        for (const event of page) {
          if (comparePositions(event.position, last) <= 0) break reading
          // What is still to come through the subscription is not told twice.
          if (reached !== null && comparePositions(event.position, reached) <= 0) events.push(event)
          if (events.length > replayedAtMost) return undefined
        }
        const oldest = page.at(-1)
        if (!oldest || oldest.revision === 0) break
        from = oldest.revision - 1
      }
    }
    return events.sort((a, b) => comparePositions(a.position, b.position))
  }

  async function roomOf(taskId: string): Promise<Room> {
    const known = rooms.get(taskId)
    if (known) return known
    const head = await log.headOf(taskStream(taskId))
    const room = {
      viewers: new Set<Viewer>(),
      task: await documents.asOf(tasksView, taskStream(taskId), taskId, head),
    }
    rooms.set(taskId, room)
    return room
  }

  return {
    join: (taskId, viewer, last) =>
      inTurn(async () => {
        const room = await roomOf(taskId)
        const events = last === null ? [] : await missed(taskId, last)
        for (const event of events ?? []) {
          for (const saying of sayingsOf(event, { before: room.task, after: room.task })) viewer.say(saying)
        }
        const status = room.task && events?.some((event) => event.stream === taskStream(taskId))
        const latest = events?.at(-1)
        if (status && room.task && latest) viewer.say(['task_status_changed', statusOf(latest, room.task)])
        room.viewers.add(viewer)
        return { resync: events === undefined, position: reached }
      }),
    leave(taskId, viewer) {
      const room = rooms.get(taskId)
      room?.viewers.delete(viewer)
      if (room?.viewers.size === 0) rooms.delete(taskId)
    },
    follow(userId, viewer) {
      followers.set(userId, (followers.get(userId) ?? new Set()).add(viewer))
    },
    unfollow(userId, viewer) {
      const viewers = followers.get(userId)
      viewers?.delete(viewer)
      if (viewers?.size === 0) followers.delete(userId)
    },
    stop: () => subscription.stop(),
  }
}
