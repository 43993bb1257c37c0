/** Viewers miss nothing and receive nothing twice; the test decides when each answer of the event store comes. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ResumeCursor } from '#domain/api/socket.schema.ts'
import { comparePositions, type Position, type RecordedOf, type StoredEvent } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import {
  ExecutionCancelled,
  ExecutionCompleted,
  ExecutionFailed,
  ExecutionRequested,
  ExecutionStarted,
  MessageDelivered,
  MessagePosted,
  MessageQueued,
  TaskCreated,
  type ExecutionKind,
  type TaskEvent,
} from '#domain/task/events.ts'
import { QuestionAsked, QuestionWithdrawn } from '#domain/task/questionEvents.ts'
import {
  MessageTextRecorded,
  TerminalOutputRecorded,
  type TerminalEvent,
} from '#domain/task/terminalEvents.ts'
import { views } from '#domain/views/registry.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { documents } from '#platform/reads/documents.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import { logger } from '#platform/log.ts'
import type { Words } from '#platform/live/liveWords.ts'
import type { EventStore, HandleEvents } from '#platform/ports/eventStore.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { executionId, messageId, projectId, questionId, taskId, userId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import { toolStarted } from '../../../tests/domain/taskHistories.ts'
import { progressIntervalMs, startFeed, type Viewer } from './feed.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import type { SocketMessage } from './socketMessages.ts'
import { hearingBus } from '../../../tests/hearingBus.ts'
import { randomRuns } from '../../../tests/longRun.ts'
import { foldView } from '../../../tests/domain/fold.ts'

/** Engines with a log in memory. `wait` delays every answer of the log, and subscribers get events only when `deliver` is called. */
function fakeEngines(wait: <T>(value: T) => Promise<T>) {
  const events: AnyRecorded[] = []
  const revisions = new Map<string, number>()
  let handle: HandleEvents | undefined
  let delivered = 0
  /** How many events the read models contain. It may differ from `delivered`, because the projector runs independently of the feed. */
  let folded = 0
  let reads = 0
  let say: (words: Words) => unknown = () => false

  const bus = hearingBus()
  const stored = (event: AnyRecorded) => event as unknown as StoredEvent
  const eventStore: EventStore = {
    append: () => Promise.reject(new Error('Tests append by themselves.')),
    readStream: async () => [],
    readAll: async () => [],
    head: () => wait(events.at(-1)?.position ?? null),
    subscribe(after, _batch, take) {
      handle = take
      delivered = events.filter(
        (event) => after !== null && comparePositions(event.position, after) <= 0,
      ).length
      return { stop: async () => undefined }
    },
    ready: async () => undefined,
    close: async () => undefined,
  }
  const ofStream = (stream: string) => events.filter((event) => event.stream === stream)
  const log: EventLog = {
    append: () => Promise.reject(new Error('Tests append by themselves.')),
    read: (stream, from, limit) => {
      reads += 1
      return wait(
        ofStream(stream)
          .filter((event) => event.revision >= from)
          .slice(0, limit),
      )
    },
    readBackwards: (stream, from, limit) => {
      const last = from === 'end' ? Infinity : from
      const found = ofStream(stream).filter((event) => event.revision <= last)
      return wait(found.reverse().slice(0, limit))
    },
    // In this log, contents are already decrypted.
    open: (event) => wait(event as unknown as AnyRecorded),
    headOf: (stream) => {
      const last = ofStream(stream).at(-1)
      return wait({ revision: last?.revision ?? -1, hash: '' })
    },
  }
  const unused = () => Promise.reject(new Error('The feed does not ask this.'))
  const readStore: ReadStore = {
    prepare: unused,
    apply: unused,
    checkpoint: unused,
    get: (collection, id) => {
      reads += 1
      const view = views.find((one) => one.collection === collection)
      const found = view && foldView(view, new Map(), events.slice(0, folded)).get(id)
      return wait(found && { ...found })
    },
    getMany: (collection, ids) => {
      reads += 1
      const view = views.find((one) => one.collection === collection)
      const found = view && foldView(view, new Map(), events.slice(0, folded))
      return wait(
        new Map(
          ids.flatMap((id) => {
            const document = found?.get(id)
            return document ? [[id, { ...document }] as const] : []
          }),
        ),
      )
    },
    find: unused,
    count: unused,
    catalog: unused,
    replaceCatalog: unused,
    forget: unused,
    generations: unused,
    drop: unused,
    aside: unused,
    removeAsides: unused,
    scrub: unused,
    ready: unused,
    close: unused,
  }
  return {
    eventStore,
    log,
    documents: documents(readStore, log),
    imageAddresses: { addressOf: ({ imageId }: { imageId: string }) => `/api/images/${imageId}` },
    words: {
      hear(isWanted: (taskId: string) => boolean, listen: (words: Words) => void) {
        say = (words) => isWanted(words.taskId) && listen(words)
        return () => (say = () => false)
      },
    },
    bus,
    /** Hands words of an agent to the feed. Returns whether the feed wants them. */
    say: (words: Words) => say(words) !== false,
    emit: noTelemetry,
    logger: logger('silent'),
    events,
    append(stream: string, event: TaskEvent | TerminalEvent): AnyRecorded {
      const revision = (revisions.get(stream) ?? -1) + 1
      revisions.set(stream, revision)
      // Positions have gaps, and grow from one digit to two, where sorting them as text would be wrong.
      const position = String(8 + events.length * 3)
      const placed = recorded(event, { stream, revision, position }) as AnyRecorded
      events.push(placed)
      return placed
    },
    /** Hands the next events to the subscriber; a batch that it refuses is handed over again. */
    async deliver(count: number): Promise<void> {
      const next = events.slice(delivered, delivered + count)
      if (next.length === 0 || !handle) return
      for (let attempt = 1; ; attempt += 1) {
        try {
          await handle(next.map(stored), next.at(-1)?.position ?? '')
          delivered += next.length
          return
        } catch (fault) {
          if (attempt === 5) throw fault
        }
      }
    },
    /** How often documents or the beginnings of streams were read. */
    reads: () => reads,
    fold(count: number) {
      folded = Math.min(events.length, folded + count)
    },
  }
}

const task1 = taskId(1)
async function atOnce<T>(value: T): Promise<T> {
  return value
}

/** A whole execution of the task, from its message to its end. */
interface Execution {
  readonly kind: ExecutionKind
  readonly chunks: number
  readonly outcome: 'completed' | 'failed' | 'cancelled'
}

function created(): TaskEvent {
  return TaskCreated.of(
    { taskId: task1, ownerId: userId(1), projectId: projectId(1), agent: 'claude' },
    { title: 't', description: 'd', branch: 'main', codexModel: null },
  )
}

function eventsOf(
  { kind, chunks, outcome }: Execution,
  n: number,
): readonly (readonly [string, TaskEvent | TerminalEvent])[] {
  const work = { executionId: executionId(n), messageId: messageId(n) }
  const said = { messageId: messageId(n), kind, agent: 'claude' } as const
  const ends = {
    completed: ExecutionCompleted.of({ ...work, exitCode: null, terminal: null }),
    failed: ExecutionFailed.of(
      { ...work, code: 'c', exitCode: null, terminal: null, retryAt: null },
      { reason: 'r' },
    ),
    cancelled: ExecutionCancelled.of({ ...work, terminal: null }),
  }
  const start = ExecutionRequested.of({ ...said, executionId: executionId(n), reason: 'follow_up' })
  const printed = { executionId: executionId(n), attempt: 1, kind, channel: 'stdout' } as const
  const toTask = (event: TaskEvent) => [taskStream(task1), event] as const
  return [
    toTask(MessageQueued.of({ ...said, images: [] }, { message: `m${n}`, imageNames: [] })),
    toTask(start),
    toTask(ExecutionStarted.of({ ...work, attempt: 1, runnerId: 'r' })),
    toTask(MessageDelivered.of(work)),
    ...Array.from(
      { length: chunks },
      (_, index) =>
        [terminalStream(task1), TerminalOutputRecorded.of(printed, { text: `${n}.${index}` })] as const,
    ),
    toTask(ends[outcome]),
  ]
}

interface Listener extends Viewer {
  readonly heard: SocketMessage[]
}
function listener(knowsWords = true): Listener {
  const heard: SocketMessage[] = []
  return { heard, send: (message) => void heard.push(message), knowsWords, sessionEnded: () => undefined }
}

const positionOf = ([, payload]: SocketMessage): Position => ('position' in payload ? payload.position : '0')
const outputs = (heard: readonly SocketMessage[]) =>
  heard.flatMap(([name, payload]) => (name === 'terminal_output' ? [payload.position] : []))
const taskEvents = (heard: readonly SocketMessage[]) =>
  heard.flatMap(([name, payload]) =>
    name === 'task_event' || name === 'chat_message' ? [payload.position] : [],
  )

type Chatty = RecordedOf<TaskEvent>
const isTaskEvent = (event: AnyRecorded): event is Chatty => event.stream === taskStream(task1)

/** The positions of a stream's events that come after `after`. */
const positionsIn = (events: readonly AnyRecorded[], stream: string, after: Position | null) =>
  events
    .filter((event) => event.stream === stream)
    .map(({ position }) => position)
    .filter((position) => after === null || comparePositions(position, after) > 0)

describe('any interleaving of appending, telling, joining, losing the connection and coming back', () => {
  const executions = fc.array(
    fc.record({
      kind: fc.constantFrom('turn' as const, 'command' as const),
      chunks: fc.nat(6),
      outcome: fc.constantFrom('completed' as const, 'failed' as const, 'cancelled' as const),
    }),
    { minLength: 1, maxLength: 4 },
  )
  const actions = fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 5 }) }),
      },
      {
        weight: 5,
        arbitrary: fc.record({ do: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 6 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('fold' as const), count: fc.integer({ min: 1, max: 6 }) }),
      },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('connect' as const), who: fc.nat(2) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('disconnect' as const), who: fc.nat(2) }) },
      // Cuts the connection after some more messages, which may be between two messages of one event.
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant('cut' as const),
          who: fc.nat(2),
          after: fc.integer({ min: 1, max: 5 }),
        }),
      },
      {
        weight: 6,
        arbitrary: fc.record({ do: fc.constant('breathe' as const), count: fc.integer({ min: 1, max: 4 }) }),
      },
    ),
    { minLength: 5, maxLength: 60, size: 'max' },
  )

  /** A tab of the client, which keeps the messages of all its connections. */
  interface Tab {
    readonly heard: SocketMessage[]
    /** The position in the answer to the tab's first join; `undefined` before that answer. */
    from: Position | null | undefined
    connection: { viewer: Viewer; done: Promise<void>; open: boolean; cutAfter: number } | undefined
  }

  /** The cursor that the tab sends when it joins again. */
  function resumeCursor({ heard, from }: Tab): ResumeCursor | null {
    const last = heard.at(-1)
    if (last === undefined) return from ?? null
    const position = positionOf(last)
    return { position, messages: heard.filter((message) => positionOf(message) === position).length }
  }

  test('tells each tab each thing once, in order, and leaves it with the status that the task has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), executions, actions, async (scheduler, planned, acts) => {
        const fake = fakeEngines((value) => scheduler.schedule(Promise.resolve(value)))
        fake.append(taskStream(task1), created())
        const plan = planned.flatMap((execution, index) => eventsOf(execution, index + 1))
        const starting = startFeed(fake)
        await scheduler.waitAll()
        const feed = await starting

        const tabs: Tab[] = [0, 1, 2].map(() => ({
          heard: [],
          from: undefined,
          connection: undefined,
        }))
        const underWay: Promise<void>[] = []
        let delivering = Promise.resolve()
        const deliver = (count: number) => {
          delivering = delivering.then(() => fake.deliver(count))
          underWay.push(delivering)
        }
        const connect = (tab: Tab) => {
          if (tab.connection?.open) return
          const viewer: Viewer = {
            send(message) {
              if (!connection.open) return
              tab.heard.push(message)
              connection.cutAfter -= 1
              if (connection.cutAfter === 0) disconnect(tab)
            },
            knowsWords: true,
            sessionEnded: () => undefined,
          }
          const connection = { open: true, viewer, done: Promise.resolve(), cutAfter: Infinity }
          const before = tab.connection?.done ?? Promise.resolve()
          const join = async () => {
            // A new connection joins after the join of the tab's earlier connection has ended, as at a real server.
            await before
            const { position, resync } = await feed.join(task1, viewer, resumeCursor(tab))
            expect(resync).toBe(false)
            // The tab's history ends at the position in the first answer that it gets.
            if (!connection.open || tab.from !== undefined) return
            tab.from = position
          }
          connection.done = join()
          tab.connection = connection
          underWay.push(connection.done)
        }
        const disconnect = (tab: Tab) => {
          const { connection } = tab
          if (!connection?.open) return
          connection.open = false
          underWay.push(connection.done.then(() => feed.leave(task1, connection.viewer)))
          // The tab has had no answer yet, so its next connection counts as its first.
          if (tab.from === undefined) tab.heard.length = 0
        }

        for (const act of acts) {
          switch (act.do) {
            case 'append':
              for (const [stream, event] of plan.splice(0, act.count)) fake.append(stream, event)
              break
            case 'deliver':
              deliver(act.count)
              break
            case 'fold':
              fake.fold(act.count)
              break
            case 'connect':
              connect(tabs[act.who] as Tab)
              break
            case 'disconnect':
              disconnect(tabs[act.who] as Tab)
              break
            case 'cut': {
              const { connection } = tabs[act.who] as Tab
              if (connection) connection.cutAfter = act.after
              break
            }
            case 'breathe':
              // A join begins in the next turn of the event loop.
              await nextTurn()
              for (let count = 0; count < act.count && scheduler.count() > 0; count += 1)
                await scheduler.waitOne()
              break
          }
        }
        // At the end, all events are appended, all tabs reconnect, and all messages are sent.
        for (const [stream, event] of plan) fake.append(stream, event)
        for (const tab of tabs) {
          if (tab.connection) tab.connection.cutAfter = Infinity
          connect(tab)
        }
        deliver(fake.events.length)
        deliver(fake.events.length)
        await scheduler.waitFor(Promise.all(underWay))

        const final = foldView(tasksView, new Map(), fake.events).get(task1)
        for (const { heard, from } of tabs) {
          const after = from ?? null
          expect(outputs(heard)).toEqual(positionsIn(fake.events, terminalStream(task1), after))
          expect(taskEvents(heard)).toEqual(positionsIn(fake.events, taskStream(task1), after))
          const position = heard.map(positionOf)
          expect(position).toEqual(position.toSorted(comparePositions))

          const atFirst = foldView(
            tasksView,
            new Map(),
            fake.events.filter((event) => after !== null && comparePositions(event.position, after) <= 0),
          ).get(task1)
          const lastStatus = heard.findLast(([name]) => name === 'task_status_changed')
          const shown = lastStatus?.[0] === 'task_status_changed' ? lastStatus[1] : atFirst
          expect(shown).toMatchObject({ status: final?.status, progress: final?.progress })
          expectCommandsTold(fake.events, heard, after)
        }
      }),
      { numRuns: randomRuns(300) },
    )
  })

  /** Expects one message for the end of each command after `after`, and in the messages the statuses that the chat shows. */
  function expectCommandsTold(
    events: readonly AnyRecorded[],
    heard: readonly SocketMessage[],
    after: Position | null,
  ) {
    const chat = foldView(chatView, new Map(), events)
    const ended = events.filter(isTaskEvent).flatMap((event) => {
      const isEnd =
        event.type === 'ExecutionCompleted' ||
        event.type === 'ExecutionFailed' ||
        event.type === 'ExecutionCancelled'
      return isEnd && (after === null || comparePositions(event.position, after) > 0) ? [event] : []
    })
    const isCommand = (id: string) => chat.get(messageDocumentId(task1, id))?.isCommand === true
    const told = heard.flatMap(([name, payload]) =>
      name === 'command_completed' || name === 'command_failed' || name === 'command_cancelled'
        ? [[name, payload.messageId]]
        : [],
    )
    const expected = ended
      .filter((event) => isCommand(event.data.messageId))
      .map((event) => [event.type.replace('Execution', 'command_').toLowerCase(), event.data.messageId])
    expect(told).toEqual(expected)
    for (const { data } of ended) {
      const last = heard.findLast(
        ([name, payload]) => name === 'chat_message_status_changed' && payload.messageId === data.messageId,
      )
      const { commandStatus, response } = chat.get(messageDocumentId(task1, data.messageId)) ?? {}
      expect(last?.[1]).toMatchObject({ commandStatus, response })
    }
  }
})

describe('a viewer', () => {
  const feedWith = async (executions: readonly Execution[]) => {
    const fake = fakeEngines(atOnce)
    fake.append(taskStream(task1), created())
    for (const [index, execution] of executions.entries())
      for (const [stream, event] of eventsOf(execution, index + 1)) fake.append(stream, event)
    return { fake, feed: await startFeed(fake) }
  }

  test('who knows more than this gateway has told yet is told none of it again', async () => {
    const { fake, feed } = await feedWith([])
    const behind = eventsOf({ kind: 'turn', chunks: 3, outcome: 'completed' }, 1)
    for (const [stream, event] of behind) fake.append(stream, event)
    const seen = fake.events.at(-3)?.position ?? ''
    const viewer = listener()
    // The viewer has read a history that is ahead of the events which the gateway has received.
    await feed.join(task1, viewer, seen)
    await fake.deliver(100)
    expect(viewer.heard.map(positionOf).every((position) => comparePositions(position, seen) > 0)).toBe(true)
    expect(outputs(viewer.heard)).toEqual(positionsIn(fake.events, terminalStream(task1), seen))
  })

  test('hears at once what is being said in a room of theirs, and nothing of it counts as heard', async () => {
    const { fake, feed } = await feedWith([])
    const viewer = listener()
    const words = {
      taskId: task1,
      executionId: executionId(1),
      messageId: messageId(2),
      offset: 0,
      text: 'So',
    }
    expect(fake.say(words)).toBe(false)
    await feed.join(task1, viewer, null)
    fake.say(words)
    expect(viewer.heard).toEqual([['chat_message_words', words]])
    fake.say({ ...words, isThought: true })
    expect(viewer.heard.slice(1)).toEqual([['thought_words', words]])
    fake.say({ ...words, taskId: taskId(9) })
    feed.leave(task1, viewer)
    fake.say(words)
    expect(viewer.heard).toHaveLength(2)
    await feed.stop()
  })

  test('hears nothing more of an execution that has ended, whatever a runner that was suspended still says', async () => {
    const { fake, feed } = await feedWith([])
    const [viewer, other] = [listener(), listener(false)]
    await feed.join(task1, viewer, null)
    await feed.join(task1, other, null)
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 0, outcome: 'failed' }, 1))
      fake.append(stream, event)
    await fake.deliver(100)
    const told = [viewer.heard.length, other.heard.length]
    const words = { executionId: executionId(1), messageId: messageId(2), offset: 0, text: 'So' }
    fake.say({ ...words, taskId: task1 })
    expect([viewer.heard.length, other.heard.length]).toEqual(told)
    fake.say({ ...words, taskId: task1, executionId: executionId(2) })
    expect([viewer.heard.at(-1)?.[0], other.heard.at(-1)?.[0]]).toEqual([
      'chat_message_words',
      'chat_message',
    ])
    await feed.stop()
  })

  test('does not say that it knows words, and also gets a message each time that it has grown, then complete or withdrawn', async () => {
    const { fake, feed } = await feedWith([])
    const [viewer, other] = [listener(false), listener()]
    await feed.join(task1, viewer, null)
    await feed.join(task1, other, null)
    const ids = { executionId: executionId(1), messageId: messageId(2) }
    const words = { ...ids, taskId: task1, offset: 0, text: 'So' }
    fake.say(words)
    fake.say({ ...words, isThought: true })
    const text = { text: 'So it is', begunAt: '2026-01-01T00:00:00.000Z', chunks: [] }
    fake.append(terminalStream(task1), MessageTextRecorded.of({ ...ids, attempt: 1, offset: 0 }, text))
    const posted = { ...ids, messageType: 'response', agent: 'claude' } as const
    fake.append(taskStream(task1), MessagePosted.of(posted, { message: 'So it is.' }))
    await fake.deliver(100)
    fake.say(words)
    fake.say({ ...words, messageId: messageId(3), text: 'And' })
    const outcome = { executionId: executionId(1), messageId: messageId(1), exitCode: null, terminal: null }
    fake.append(taskStream(task1), ExecutionCompleted.of(outcome))
    await fake.deliver(100)
    const messages = viewer.heard.flatMap(([name, payload]) => (name === 'chat_message' ? [payload] : []))
    expect(
      messages.map(({ id, message, isPartial, isVisible }) => [id, message, isPartial, isVisible]),
    ).toEqual([
      [messageId(2), 'So', true, true],
      [messageId(2), 'So it is', true, true],
      [messageId(2), 'So it is.', undefined, true],
      [messageId(3), 'And', true, true],
      [messageId(3), 'And', true, false],
    ])
    const names = (from: Listener) => new Set(from.heard.map(([name]) => name))
    expect(names(viewer)).toContain('chat_message_words')
    expect(other.heard.filter(([name]) => name === 'chat_message')).toHaveLength(1)
    await feed.stop()
  })

  test('who knows more than the log has, as after a restore, is told to read the history again and hears what comes', async () => {
    const { fake, feed } = await feedWith([])
    const viewer = listener()
    const answer = await feed.join(task1, viewer, '999999')
    expect(answer).toEqual({ resync: true, position: fake.events.at(-1)?.position })
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 2, outcome: 'completed' }, 1))
      fake.append(stream, event)
    await fake.deliver(100)
    expect(outputs(viewer.heard)).toEqual(positionsIn(fake.events, terminalStream(task1), '0'))
  })

  test('is told nothing twice when a batch fails half way and is handed over again', async () => {
    const { fake, feed } = await feedWith([])
    const viewer = listener()
    await feed.join(task1, viewer, null)
    for (const [stream, event] of eventsOf({ kind: 'command', chunks: 4, outcome: 'completed' }, 1))
      fake.append(stream, event)
    const fails = new Set(['1.2'])
    const failing: EventLog = {
      ...fake.log,
      open: async (stored) => {
        const event = await fake.log.open(stored)
        const text = event.type === 'TerminalOutputRecorded' ? event.content?.text : undefined
        if (text !== undefined && fails.delete(text)) throw new Error('the vault does not answer')
        return event
      },
    }
    const again = await startFeed({ ...fake, log: failing })
    // The second feed was started at the end of the log, so it gets only later events.
    const other = listener()
    await again.join(task1, other, null)
    for (const [stream, event] of eventsOf({ kind: 'command', chunks: 4, outcome: 'completed' }, 2))
      fake.append(stream, event)
    fails.add('2.2')
    await fake.deliver(100)
    expect(outputs(other.heard)).toEqual(outputs(other.heard).toSorted(comparePositions))
    expect(new Set(outputs(other.heard)).size).toBe(4)
    expect(outputs(other.heard)).toHaveLength(4)
  })

  test('who missed too much is told to read the history again, and hears what comes from then on', async () => {
    const { fake, feed } = await feedWith([{ kind: 'command', chunks: 6_000, outcome: 'completed' }])
    const viewer = listener()
    const answer = await feed.join(task1, viewer, fake.events[0]?.position ?? null)
    expect(answer).toEqual({ resync: true, position: fake.events.at(-1)?.position })
    expect(viewer.heard).toEqual([])
    const before = fake.events.length
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 2, outcome: 'failed' }, 2))
      fake.append(stream, event)
    await fake.deliver(100)
    expect(outputs(viewer.heard)).toEqual(positionsIn(fake.events.slice(before), terminalStream(task1), null))
  })

  test('is replayed at most what its connection may hold back', async () => {
    const { fake, feed } = await feedWith([{ kind: 'command', chunks: 4_000, outcome: 'completed' }])
    const viewer = listener()
    await feed.join(task1, viewer, fake.events[0]?.position ?? null)
    // A socket with more than 5,000 waiting packets is cut off, so a replay, which is sent at once, must stay well below that.
    expect(viewer.heard.length).toBeLessThan(4_000)
  })

  test('costs few events of a long history when it missed only the last', async () => {
    const fake = fakeEngines(atOnce)
    fake.append(taskStream(task1), created())
    for (const [stream, event] of eventsOf({ kind: 'command', chunks: 900, outcome: 'completed' }, 1))
      fake.append(stream, event)
    let read = 0
    const log: EventLog = {
      ...fake.log,
      readBackwards: async (...asked) => {
        const events = await fake.log.readBackwards(...asked)
        read += events.length
        return events
      },
    }
    const feed = await startFeed({ ...fake, log })
    const viewer = listener()
    await fake.deliver(1_000)
    const last = fake.events.findLast(({ stream }) => stream === terminalStream(task1))?.position
    const before = fake.events.findLast(({ position }) => last && comparePositions(position, last) < 0)
    await feed.join(task1, viewer, before?.position ?? null)
    expect(outputs(viewer.heard)).toEqual([last])
    expect(read).toBeLessThan(100)
  })

  describe('whose history takes its time', () => {
    /** A feed whose reads of history wait until `letGo` is called, and a viewer `live` who has joined without a cursor. */
    async function slowHistory() {
      const fake = fakeEngines(atOnce)
      fake.append(taskStream(task1), created())
      for (const [stream, event] of eventsOf({ kind: 'command', chunks: 3, outcome: 'completed' }, 1))
        fake.append(stream, event)
      let letGo = () => {}
      const gate = new Promise<void>((resolve) => (letGo = resolve))
      let asked = 0
      const log: EventLog = {
        ...fake.log,
        readBackwards: async (...read) => {
          asked += 1
          await gate
          return fake.log.readBackwards(...read)
        },
      }
      const feed = await startFeed({ ...fake, log })
      const live = listener()
      await feed.join(task1, live, null)
      const print = async (n: number, chunks: number) => {
        for (const [stream, event] of eventsOf({ kind: 'command', chunks, outcome: 'completed' }, n))
          fake.append(stream, event)
        await fake.deliver(10_000)
      }
      return { fake, feed, live, print, letGo, asked: () => asked }
    }

    test('holds up nobody who hears live, and is told each thing once', async () => {
      const { fake, feed, live, print, letGo, asked } = await slowHistory()
      const first = fake.events[0]?.position ?? ''
      const viewers = Array.from({ length: 20 }, () => listener())
      const joins = viewers.map((viewer) => feed.join(task1, viewer, first))
      await vi.waitFor(() => expect(asked()).toBeGreaterThan(0))
      await print(2, 2)
      expect(outputs(live.heard)).toHaveLength(2)
      // Only some of the histories are read at once.
      expect(asked()).toBeLessThan(viewers.length)
      expect(viewers.every(({ heard }) => heard.length === 0)).toBe(true)
      letGo()
      const answers = await Promise.all(joins)
      await print(3, 2)
      for (const { heard } of viewers) {
        expect(outputs(heard)).toEqual(positionsIn(fake.events, terminalStream(task1), first))
        expect(taskEvents(heard)).toEqual(positionsIn(fake.events, taskStream(task1), first))
      }
      expect(answers.every(({ resync }) => !resync)).toBe(true)
    })

    test('is told to read it again when too much came meanwhile, and hears what comes from then on', async () => {
      const { fake, feed, live, print, letGo, asked } = await slowHistory()
      const viewer = listener()
      const joining = feed.join(task1, viewer, fake.events[0]?.position ?? null)
      await vi.waitFor(() => expect(asked()).toBeGreaterThan(0))
      await print(2, 1_500)
      expect(outputs(live.heard)).toHaveLength(1_500)
      letGo()
      expect(await joining).toEqual({ resync: true, position: fake.events.at(-1)?.position })
      expect(viewer.heard).toEqual([])
      await print(3, 2)
      expect(outputs(viewer.heard)).toHaveLength(2)
    })

    test('is in no room when it cannot be read', async () => {
      const { fake, feed, print } = await slowHistory()
      const failing = await startFeed({
        ...fake,
        log: { ...fake.log, readBackwards: () => Promise.reject(new Error('away')) },
      })
      const viewer = listener()
      await expect(failing.join(task1, viewer, fake.events[0]?.position ?? null)).rejects.toThrow('away')
      await print(2, 2)
      expect(viewer.heard).toEqual([])
      await failing.stop()
      await feed.stop()
    })
  })

  test('who left hears nothing more, and who joins another task nothing of this one', async () => {
    const { fake, feed } = await feedWith([])
    const [gone, elsewhere, stays] = [listener(), listener(), listener()]
    await feed.join(task1, gone, null)
    await feed.join(taskId(2), elsewhere, null)
    await feed.join(task1, stays, null)
    feed.leave(task1, gone)
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 2, outcome: 'completed' }, 1))
      fake.append(stream, event)
    await fake.deliver(100)
    expect(gone.heard).toEqual([])
    expect(elsewhere.heard).toEqual([])
    expect(outputs(stays.heard)).toHaveLength(2)
  })

  test('who comes while the last other leaves is not forgotten with the room', async () => {
    const fake = fakeEngines((value) => new Promise((resolve) => setImmediate(resolve, value)))
    fake.append(taskStream(task1), created())
    const feed = await startFeed(fake)
    const [first, second] = [listener(), listener()]
    await feed.join(task1, first, null)
    const joining = feed.join(task1, second, fake.events[0]?.position ?? null)
    feed.leave(task1, first)
    await joining
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 2, outcome: 'completed' }, 1))
      fake.append(stream, event)
    await fake.deliver(100)
    expect(outputs(second.heard)).toHaveLength(2)
  })

  describe('of a person', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
    afterEach(() => void vi.useRealTimers())
    const progressOf = ({ heard }: Listener) =>
      heard.map(([, payload]) => 'progress' in payload && payload.progress)
    const turn = eventsOf({ kind: 'turn', chunks: 0, outcome: 'completed' }, 1)

    /** A viewer who follows a person whose task runs and has called its first tool. */
    async function follower() {
      const { fake, feed } = await feedWith([])
      const mine = listener()
      feed.follow(userId(1), mine)
      const calls = async (...tools: readonly string[]) => {
        for (const tool of tools) fake.append(taskStream(task1), toolStarted(1, tool))
        await fake.deliver(100)
      }
      for (const [stream, event] of turn.slice(0, -1)) fake.append(stream, event)
      await calls('tool-1')
      expect(progressOf(mine)).toEqual([0, 5, 23])
      return { fake, feed, mine, calls }
    }

    test('hears how far a task has come at once, and then the last at most every 250 ms', async () => {
      const { mine, calls } = await follower()
      await calls('tool-2', 'tool-3')
      await calls('tool-4')
      await vi.advanceTimersByTimeAsync(progressIntervalMs - 1)
      expect(progressOf(mine)).toEqual([0, 5, 23])
      await vi.advanceTimersByTimeAsync(1)
      const last = progressOf(mine).at(-1)
      expect(progressOf(mine)).toHaveLength(4)
      expect(last).toBeGreaterThan(30)
      await calls('tool-5')
      expect(progressOf(mine)).toHaveLength(4)
      await vi.advanceTimersByTimeAsync(progressIntervalMs)
      expect(progressOf(mine)).toHaveLength(5)
      // After an interval without progress, the next progress is sent at once.
      await vi.advanceTimersByTimeAsync(progressIntervalMs)
      await calls('tool-6')
      expect(progressOf(mine)).toHaveLength(6)
      expect(vi.getTimerCount()).toBe(1)
      await vi.advanceTimersByTimeAsync(progressIntervalMs)
      expect(vi.getTimerCount()).toBe(0)
    })

    test('hears a change of status at once, and nothing from before it after it', async () => {
      const { fake, mine, calls } = await follower()
      await calls('tool-2')
      for (const [stream, event] of turn.slice(-1)) fake.append(stream, event)
      await fake.deliver(100)
      expect(progressOf(mine)).toEqual([0, 5, 23, 100])
      await vi.advanceTimersByTimeAsync(10 * progressIntervalMs)
      expect(progressOf(mine)).toEqual([0, 5, 23, 100])
      expect(vi.getTimerCount()).toBe(0)
    })

    test('hears the last also when it could not be read at first, and nothing once the gateway stops', async () => {
      const { fake, feed, mine, calls } = await follower()
      await calls('tool-2')
      const open = vi.spyOn(fake.log, 'open').mockRejectedValueOnce(new Error('away'))
      await vi.advanceTimersByTimeAsync(progressIntervalMs)
      expect(progressOf(mine)).toHaveLength(3)
      await vi.advanceTimersByTimeAsync(progressIntervalMs)
      expect(progressOf(mine)).toEqual([0, 5, 23, 30])
      open.mockRestore()
      await calls('tool-3')
      await feed.stop()
      expect(vi.getTimerCount()).toBe(0)
    })

    test('does not hear progress that cannot be read, which is tried once', async () => {
      const { fake, mine, calls } = await follower()
      await calls('tool-2')
      const lost = { stream: taskStream(task1), revision: 5, type: 'ToolStarted' }
      const open = vi.spyOn(fake.log, 'open').mockRejectedValue(new UnreadableEvent(lost, 'cannot_be_opened'))
      await vi.advanceTimersByTimeAsync(10 * progressIntervalMs)
      expect(open).toHaveBeenCalledTimes(1)
      expect(progressOf(mine)).toHaveLength(3)
      open.mockRestore()
      await calls('tool-3')
      expect(progressOf(mine)).toHaveLength(4)
    })
  })

  // Holds findings 1.12.
  test('finding 3: is not kept waiting by a task that calls tools without end', async () => {
    const { fake, feed } = await feedWith([])
    const [mine, other] = [listener(), listener()]
    feed.follow(userId(1), mine)
    feed.follow(userId(2), other)
    const turn = (n: number) => {
      const events = eventsOf({ kind: 'turn', chunks: 0, outcome: 'completed' }, n)
      for (const [stream, event] of events.slice(0, -1)) fake.append(stream, event)
      for (let call = 0; call < 300; call += 1) fake.append(taskStream(task1), toolStarted(n, `tool-${call}`))
      for (const [stream, event] of events.slice(-1)) fake.append(stream, event)
    }
    turn(1)
    turn(2)
    fake.fold(10_000)
    await fake.deliver(10_000)
    // There are a few reads for each turn, because a document is read only when the progress changes.
    expect(fake.reads()).toBeLessThan(150)
    expect(mine.heard.at(-1)?.[1]).toMatchObject({ progress: 100, status: 'completed' })
    expect(other.heard).toEqual([])
  })

  test('of a person costs no read for what strangers do', async () => {
    const { fake, feed } = await feedWith([])
    const mine = listener()
    feed.follow(userId(1), mine)
    const strangers = 300
    for (let n = 0; n < strangers; n += 1) {
      const stream = taskStream(taskId(100 + n))
      const theirs = {
        taskId: taskId(100 + n),
        ownerId: userId(2),
        projectId: projectId(1),
        agent: 'claude',
      } as const
      fake.append(
        stream,
        TaskCreated.of(theirs, { title: 't', description: 'd', branch: 'main', codexModel: null }),
      )
      for (const [of, event] of eventsOf({ kind: 'turn', chunks: 0, outcome: 'completed' }, n))
        if (of === taskStream(task1)) fake.append(stream, event)
      fake.append(stream, toolStarted(n, 'tool-1'))
    }
    await fake.deliver(100_000)
    expect(fake.reads()).toBe(0)
    // If a task was created before the gateway started, the gateway reads the task's owner once.
    const again = await startFeed(fake)
    again.follow(userId(1), mine)
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < strangers; n += 1)
        for (const [of, event] of eventsOf({ kind: 'turn', chunks: 0, outcome: 'failed' }, n))
          if (of === taskStream(task1)) fake.append(taskStream(taskId(100 + n)), event)
      fake.fold(100_000)
      await fake.deliver(100_000)
    }
    expect(fake.reads()).toBe(1)
    expect(mine.heard).toEqual([])
    await again.stop()
  })

  test('of a person hears each change of status of their tasks, and of nobody else', async () => {
    const { fake, feed } = await feedWith([])
    const [mine, other] = [listener(), listener()]
    feed.follow(userId(1), mine)
    feed.follow(userId(2), other)
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 1, outcome: 'failed' }, 1))
      fake.append(stream, event)
    await fake.deliver(100)
    const statuses = mine.heard.map(([name, payload]) => [name, 'status' in payload && payload.status])
    expect(statuses).toEqual(
      ['queued', 'running', 'failed'].map((status) => ['global_task_status_changed', status]),
    )
    expect(other.heard).toEqual([])
    feed.unfollow(userId(1), mine)
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 1, outcome: 'failed' }, 2))
      fake.append(stream, event)
    await fake.deliver(100)
    expect(mine.heard).toHaveLength(3)
  })

  test('of a person hears that an agent asks, and that it was answered, as lists say so', async () => {
    const { fake, feed } = await feedWith([])
    const mine = listener()
    const of = { executionId: executionId(1), questionId: questionId(1) }
    feed.follow(userId(1), mine)
    for (const [stream, event] of eventsOf({ kind: 'turn', chunks: 1, outcome: 'failed' }, 1).slice(0, 4))
      fake.append(stream, event)
    await fake.deliver(100)
    const before = mine.heard.length
    fake.append(
      taskStream(taskId(1)),
      QuestionAsked.of(
        { ...of, kind: 'plan', allowsText: true, multiple: false },
        { title: 'A plan', body: '', options: [], fields: [], rules: [] },
      ),
    )
    fake.append(taskStream(taskId(1)), QuestionWithdrawn.of(of))
    await fake.deliver(100)
    expect(mine.heard.slice(before).map(([name]) => name)).toEqual([
      'global_task_status_changed',
      'global_task_status_changed',
    ])
  })
})
