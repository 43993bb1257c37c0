/**
 * The event store on EventStoreDB. The whole process shares one client, or two in a cluster. Every call has a time limit, and no fault contains the
 * password.
 */
import { setTimeout as pause } from 'node:timers/promises'
import {
  BACKWARDS,
  END,
  FORWARDS,
  NO_STREAM,
  START,
  StreamDeletedError,
  WrongExpectedVersionError,
  type BaseOptions,
  type EventStoreDBClient,
  type ReadPosition,
  type ReadRevision,
  type RecordedEvent,
} from '@eventstore/db-client'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import {
  matches,
  type AppendResult,
  type EventFilter,
  type EventStore,
  type EventToAppend,
  type ExpectedRevision,
  type HandleEvents,
  type ReadStream,
  type Subscription,
} from '../ports/eventStore.ts'
import { EngineUnavailable, RemovedStream, UnusableEngine, type ReportFault } from '../ports/faults.ts'
import { checkRevisions } from './storedRecord.ts'
import { eventStoreDbAddress, eventStoreDbClient } from './eventStoreDbAddress.ts'
import { callsTo, isDenied, readEach, reasonOf, answered } from './eventStoreDbCalls.ts'
import { fromEventStoreDb, isOurs, olderServer, positionOf, toEventStoreDb } from './eventStoreDbEnvelope.ts'
import { followFeed, nothingShown, type Shown } from './eventStoreDbSubscription.ts'

export interface EventStoreDbOptions {
  /** An address such as `esdb://user:password@host:2113`, with `?tls=false` for a server without TLS. */
  readonly url: string
  readonly onFault: ReportFault
  /** Called once with a line when the server does not answer at the start. */
  readonly onWaiting: (line: string) => void
  /** The total time limit of a call while the server does not respond, in milliseconds. */
  readonly callMs?: number
}

const betweenStartsMs = 500
const maxPageBack = 500
const disposeMs = 1_000

interface Connected {
  readonly engine: string
  readonly client: EventStoreDBClient
  /**
   * The client for subscriptions and histories, which prefers a follower. It is a separate client, because the library moves all calls of a client to
   * the leader when one call requires it.
   */
  readonly near: EventStoreDBClient
  readonly shown: Shown
  readonly credentials: NonNullable<BaseOptions['credentials']>
  /**
   * The options of all calls. With credentials, the library makes a call of its own for each append. Without them, it would send all appends over one
   * call that never times out, and whose fault would reject other appends and then end the process.
   */
  readonly base: BaseOptions
  readonly askServer: ReturnType<typeof callsTo>
  readonly callMs: number
  readonly onFault: ReportFault
  readonly onWaiting: (line: string) => void
  readonly subscriptions: Set<Subscription>
  readonly underWay: Set<Promise<unknown>>
  isClosed: boolean
}

/**
 * Opens the log in EventStoreDB 22.6 or later, and waits until the server answers. When an append is confirmed, it is on the server's disk (in a
 * cluster, on those of a majority). Throws `UnusableEngine` for an invalid address, for a user that the server refuses, and for an older server.
 */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore> {
  const { url, onFault, onWaiting, callMs = 5_000 } = options
  const address = eventStoreDbAddress(url)
  const { engine, credentials } = address
  const client = eventStoreDbClient(address, 'leader')
  const store: Connected = {
    engine,
    client,
    near: address.isCluster ? eventStoreDbClient(address, 'follower') : client,
    shown: nothingShown(),
    credentials,
    base: { credentials, requiresLeader: true },
    askServer: callsTo(engine, callMs),
    callMs,
    onFault,
    onWaiting,
    subscriptions: new Set(),
    underWay: new Set(),
    isClosed: false,
  }
  try {
    await waitForServer(store)
  } catch (fault) {
    await close(store)
    throw fault
  }

  return {
    append: (stream, expected, events) => append(store, stream, expected, events),
    readStream: (stream, range) => readStream(store, stream, range),
    readAll: (after, limit, wanted) => readAll(store, after, limit, wanted),
    async head() {
      const last = await newestOfOurs(store)
      return last ? fromEventStoreDb(last).position : null
    },
    subscribe: (after, batch, handle, wanted) => subscribe(store, after, batch, handle, wanted),
    async ready() {
      await newest(store)
    },
    close: () => close(store),
  }
}

async function ask<T>(store: Connected, attempt: (limitMs: number) => Promise<T>): Promise<T> {
  if (store.isClosed) throw new EngineUnavailable(store.engine)
  const answer = store.askServer(attempt)
  store.underWay.add(answer)
  try {
    return await answer
  } finally {
    store.underWay.delete(answer)
  }
}

async function streamEvents(
  store: Connected,
  stream: string,
  direction: typeof FORWARDS | typeof BACKWARDS,
  fromRevision: ReadRevision,
  maxCount: number,
  asOf?: Position,
): Promise<readonly RecordedEvent[]> {
  return ask(store, async (limitMs) => {
    const found: RecordedEvent[] = []
    const isNear = asOf !== undefined && store.shown.has(asOf)
    const [from, options] = isNear
      ? [store.near, { credentials: store.credentials }]
      : [store.client, store.base]
    const read = from.readStream(stream, { direction, fromRevision, maxCount, ...options })
    try {
      await readEach(read, limitMs, ({ event }) => {
        if (event) found.push(event)
        return 'more'
      })
    } catch (fault) {
      if (isNear) store.shown.lost()
      throw fault instanceof StreamDeletedError ? new RemovedStream(stream, fault) : fault
    }
    return found
  })
}

/** Throws when the events of a stream were removed, which only its metadata shows: otherwise, such a stream looks as if it had never existed. */
async function requireNotRemoved(store: Connected, stream: string): Promise<void> {
  const { metadata } = await ask(store, (limitMs) =>
    answered(limitMs, store.client.getStreamMetadata(stream, { ...store.base, deadline: limitMs })),
  )
  const bounds = [metadata?.truncateBefore, metadata?.maxAge, metadata?.maxCount]
  if (bounds.some((bound) => bound !== undefined)) throw new RemovedStream(stream)
}

function logEvents(
  store: Connected,
  direction: typeof FORWARDS | typeof BACKWARDS,
  fromPosition: ReadPosition,
  limit: number,
  isSought: (event: RecordedEvent) => boolean,
  maxCount = Number.MAX_SAFE_INTEGER,
): Promise<readonly RecordedEvent[]> {
  return ask(store, async (limitMs) => {
    const found: RecordedEvent[] = []
    const read = store.client.readAll({ direction, fromPosition, maxCount, ...store.base })
    await readEach(read, limitMs, ({ event }) => {
      if (event && isSought(event)) found.push(event)
      return found.length < limit ? 'more' : 'enough'
    })
    return found
  })
}

async function append(
  store: Connected,
  stream: string,
  expected: ExpectedRevision,
  events: readonly EventToAppend[],
): Promise<AppendResult> {
  checkRevisions(stream, expected, events)
  if (events.length === 0) {
    const [last] = await streamEvents(store, stream, BACKWARDS, END, 1)
    const actual = Number(last?.revision ?? -1n)
    return actual === expected ? { kind: 'appended', positions: [] } : { kind: 'conflict', actual }
  }
  const proposed = events.map(toEventStoreDb)
  const outcome = await ask(store, async (limitMs) => {
    try {
      const expectedRevision = expected < 0 ? NO_STREAM : BigInt(expected)
      return await answered(
        limitMs,
        store.client.appendToStream(stream, proposed, { ...store.base, expectedRevision, deadline: limitMs }),
      )
    } catch (fault) {
      if (fault instanceof WrongExpectedVersionError) return fault
      throw fault
    }
  })
  if (outcome instanceof WrongExpectedVersionError) {
    const { actualVersion } = outcome
    return { kind: 'conflict', actual: typeof actualVersion === 'bigint' ? Number(actualVersion) : -1 }
  }
  const [only, ...others] = events
  if (only && others.length === 0 && outcome.position) {
    return { kind: 'appended', positions: [String(outcome.position.commit)] }
  }
  return { kind: 'appended', positions: await positionsOf(store, stream, events) }
}

/**
 * The positions of appended events. The server returns only the position of the last event, and sometimes not even this position, so the events are
 * read.
 */
async function positionsOf(
  store: Connected,
  stream: string,
  events: readonly EventToAppend[],
): Promise<readonly Position[]> {
  const from = BigInt(events[0]?.revision ?? 0)
  const stored = await streamEvents(store, stream, FORWARDS, from, events.length)
  const isWhole = stored.length === events.length && stored.every(({ id }, index) => id === events[index]?.id)
  if (!isWhole)
    throw new Error(`${store.engine} took an append to ${stream} and does not show it as it was sent.`)
  return stored.map((event) => fromEventStoreDb(event).position)
}

async function readStream(store: Connected, stream: string, { from, direction, limit, asOf }: ReadStream) {
  if (limit <= 0 || (from === 'end' && direction === 'forwards')) return []
  const found = await streamEvents(
    store,
    stream,
    direction === 'forwards' ? FORWARDS : BACKWARDS,
    from === 'end' ? END : BigInt(from),
    limit,
    asOf,
  )
  if (found.length === 0 && (from === 0 || from === 'end')) await requireNotRemoved(store, stream)
  return found.map(fromEventStoreDb)
}

async function readAll(store: Connected, after: Position | null, limit: number, wanted?: EventFilter) {
  if (limit <= 0) return []
  const from = after === null ? START : { commit: BigInt(after), prepare: BigInt(after) }
  // A read begins at the given position, not after it.
  const isAfter = (event: RecordedEvent) =>
    after === null || comparePositions(positionOf(event) ?? after, after) > 0
  const isSought = (event: RecordedEvent) =>
    isAfter(event) &&
    isOurs(event) &&
    (wanted === undefined || matches(wanted, { stream: event.streamId, type: event.type }))
  const found = await logEvents(store, FORWARDS, from, limit, isSought)
  return found.map(fromEventStoreDb)
}

function newest(store: Connected) {
  return logEvents(store, BACKWARDS, END, 1, () => true, 1)
}

/** The newest event that we wrote. If another program or the server has written since, searches backwards in growing pages. */
async function newestOfOurs(store: Connected): Promise<RecordedEvent | undefined> {
  let from: ReadPosition = END
  for (let count = 1; ; count = Math.min(count * 8, maxPageBack)) {
    const page = await logEvents(store, BACKWARDS, from, count, () => true, count)
    const ours = page.find(isOurs)
    const oldest = page.at(-1)?.position
    const isEnd = page.length < count || oldest === undefined
    if (ours || isEnd) return ours
    from = oldest
  }
}

async function waitForServer(store: Connected): Promise<void> {
  for (let isTold = false; ; isTold = true) {
    try {
      const [last] = await newest(store)
      const [same] = last ? await streamEvents(store, last.streamId, FORWARDS, last.revision, 1) : []
      if (same && positionOf(same) === null) throw new UnusableEngine(olderServer)
      return
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable)) throw fault
      if (isDenied(fault.cause)) {
        throw new UnusableEngine(
          `${store.engine} refuses the user of EVENTSTORE_URL: it takes one of the group $admins, and the right password.`,
          { cause: fault },
        )
      }
      if (!isTold)
        store.onWaiting(`${store.engine} does not answer yet (${reasonOf(fault)}): waiting for it.`)
      await pause(betweenStartsMs)
    }
  }
}

async function close(store: Connected): Promise<void> {
  await Promise.all([...store.subscriptions].map((subscription) => subscription.stop()))
  store.isClosed = true
  await Promise.allSettled(store.underWay)
  const clients = [...new Set([store.client, store.near])]
  await Promise.all(clients.map((each) => answered(disposeMs, each.dispose()).catch(() => {})))
}

function subscribe(
  store: Connected,
  after: Position | null,
  batch: number,
  handle: HandleEvents,
  wanted: EventFilter | undefined,
): Subscription {
  const source = {
    client: store.near,
    options: { credentials: store.credentials },
    limitMs: store.callMs,
    shown: store.shown,
  }
  const followed = followFeed(source, { after, batch, handle, wanted, onFault: store.onFault })
  const subscription: Subscription = {
    stop() {
      store.subscriptions.delete(subscription)
      return followed.stop()
    },
  }
  store.subscriptions.add(subscription)
  return subscription
}
