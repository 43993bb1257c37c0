/** The event store on EventStoreDB. One client for the whole process; every wait has an end; no fault shows the password. */
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
  type ReadPosition,
  type ReadRevision,
  type RecordedEvent,
} from '@eventstore/db-client'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import {
  isWanted,
  type AppendResult,
  type EventFilter,
  type EventStore,
  type EventToAppend,
  type ExpectedRevision,
  type ReadStream,
  type Subscription,
} from '../ports/eventStore.ts'
import { EngineUnavailable, RemovedStream, UnusableEngine, type ReportFault } from '../ports/faults.ts'
import { checkRevisions } from './checkRevisions.ts'
import { eventStoreDbAddress, eventStoreDbClient } from './eventStoreDbAddress.ts'
import { callsTo, isDenied, readEach, reasonOf, answered } from './eventStoreDbCalls.ts'
import { fromEventStoreDb, isOurs, olderServer, positionOf, toEventStoreDb } from './eventStoreDbEnvelope.ts'
import { followFeed, nothingShown } from './eventStoreDbSubscription.ts'

export interface EventStoreDbOptions {
  /** `esdb://user:password@host:2113`, with `?tls=false` for a server without TLS. */
  readonly url: string
  readonly onFault: ReportFault
  /** Told in a line, once, when the server does not answer at the start. */
  readonly onWaiting: (line: string) => void
  /** How long a call may take in all when the server is not heard of, in milliseconds. */
  readonly callMs?: number
}

const betweenStartsMs = 500
const pageBack = 500
const disposeMs = 1_000

/**
 * Opens the log in EventStoreDB 22.6 or later, and waits until the server answers. An append is on the server's disk (and on
 * most of a cluster's) when it is answered. Throws `UnusableEngine` for an address that does not hold, for a user that the
 * server refuses, and for an older server.
 */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore> {
  const { url, onFault, onWaiting, callMs = 5_000 } = options
  const address = eventStoreDbAddress(url)
  const { engine, credentials } = address
  const client = eventStoreDbClient(address, 'leader')
  // Feeds and histories come from a follower where there is one; the library moves all calls of a client to the leader once one asks for it.
  const near = address.isCluster ? eventStoreDbClient(address, 'follower') : client
  const shown = nothingShown()
  // With credentials of its own an append is a call of its own. Without, the library sends all appends over one call, which
  // never times out, and whose faults reject what others sent and then end the process.
  const base: BaseOptions = { credentials, requiresLeader: true }
  const askServer = callsTo(engine, callMs)
  const subscriptions = new Set<Subscription>()
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false

  async function ask<T>(attempt: (limitMs: number) => Promise<T>): Promise<T> {
    if (isClosed) throw new EngineUnavailable(engine)
    const answer = askServer(attempt)
    underWay.add(answer)
    try {
      return await answer
    } finally {
      underWay.delete(answer)
    }
  }

  async function streamEvents(
    stream: string,
    direction: typeof FORWARDS | typeof BACKWARDS,
    fromRevision: ReadRevision,
    maxCount: number,
    asOf?: Position,
  ): Promise<readonly RecordedEvent[]> {
    return ask(async (limitMs) => {
      const found: RecordedEvent[] = []
      const isNear = asOf !== undefined && shown.has(asOf)
      const [from, options] = isNear ? [near, { credentials }] : [client, base]
      const read = from.readStream(stream, { direction, fromRevision, maxCount, ...options })
      try {
        await readEach(read, limitMs, ({ event }) => {
          if (event) found.push(event)
          return 'more'
        })
      } catch (fault) {
        if (isNear) shown.lost()
        throw fault instanceof StreamDeletedError ? new RemovedStream(stream, fault) : fault
      }
      return found
    })
  }

  /** A stream without events: it never was, or its events were removed and only what says so is left. */
  async function requireNotRemoved(stream: string): Promise<void> {
    const { metadata } = await ask((limitMs) =>
      answered(limitMs, client.getStreamMetadata(stream, { ...base, deadline: limitMs })),
    )
    const bounds = [metadata?.truncateBefore, metadata?.maxAge, metadata?.maxCount]
    if (bounds.some((bound) => bound !== undefined)) throw new RemovedStream(stream)
  }

  /** The first events of the whole log, in the direction, that are wanted. */
  function logEvents(
    direction: typeof FORWARDS | typeof BACKWARDS,
    fromPosition: ReadPosition,
    limit: number,
    isSought: (event: RecordedEvent) => boolean,
    maxCount = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly RecordedEvent[]> {
    return ask(async (limitMs) => {
      const found: RecordedEvent[] = []
      const read = client.readAll({ direction, fromPosition, maxCount, ...base })
      await readEach(read, limitMs, ({ event }) => {
        if (event && isSought(event)) found.push(event)
        return found.length < limit ? 'more' : 'enough'
      })
      return found
    })
  }

  async function append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly EventToAppend[],
  ): Promise<AppendResult> {
    checkRevisions(stream, expected, events)
    if (events.length === 0) {
      const [last] = await streamEvents(stream, BACKWARDS, END, 1)
      const actual = Number(last?.revision ?? -1n)
      return actual === expected ? { kind: 'appended', positions: [] } : { kind: 'conflict', actual }
    }
    const proposed = events.map(toEventStoreDb)
    const outcome = await ask(async (limitMs) => {
      try {
        const expectedRevision = expected < 0 ? NO_STREAM : BigInt(expected)
        return await answered(
          limitMs,
          client.appendToStream(stream, proposed, { ...base, expectedRevision, deadline: limitMs }),
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
    return { kind: 'appended', positions: await positionsOf(stream, events) }
  }

  /** The server tells the position of the last event of an append, and none at times: the others are read. */
  async function positionsOf(stream: string, events: readonly EventToAppend[]): Promise<readonly Position[]> {
    const from = BigInt(events[0]?.revision ?? 0)
    const stored = await streamEvents(stream, FORWARDS, from, events.length)
    const isWhole =
      stored.length === events.length && stored.every(({ id }, index) => id === events[index]?.id)
    if (!isWhole)
      throw new Error(`${engine} took an append to ${stream} and does not show it as it was sent.`)
    return stored.map((event) => fromEventStoreDb(event).position)
  }

  async function readStream(stream: string, { from, direction, limit, asOf }: ReadStream) {
    if (limit <= 0 || (from === 'end' && direction === 'forwards')) return []
    const found = await streamEvents(
      stream,
      direction === 'forwards' ? FORWARDS : BACKWARDS,
      from === 'end' ? END : BigInt(from),
      limit,
      asOf,
    )
    if (found.length === 0 && (from === 0 || from === 'end')) await requireNotRemoved(stream)
    return found.map(fromEventStoreDb)
  }

  async function readAll(after: Position | null, limit: number, wanted?: EventFilter) {
    if (limit <= 0) return []
    const from = after === null ? START : { commit: BigInt(after), prepare: BigInt(after) }
    // A read begins at its position, and not after it.
    const isAfter = (event: RecordedEvent) =>
      after === null || comparePositions(positionOf(event) ?? after, after) > 0
    const isSought = (event: RecordedEvent) =>
      isAfter(event) &&
      isOurs(event) &&
      (wanted === undefined || isWanted(wanted, { stream: event.streamId, type: event.type }))
    const found = await logEvents(FORWARDS, from, limit, isSought)
    return found.map(fromEventStoreDb)
  }

  const newest = () => logEvents(BACKWARDS, END, 1, () => true, 1)

  /** The last event that is ours: the last of all, where no other program and not the server wrote since; else in pages back from there. */
  async function newestOfOurs(): Promise<RecordedEvent | undefined> {
    let from: ReadPosition = END
    for (let count = 1; ; count = pageBack) {
      const page = await logEvents(BACKWARDS, from, count, () => true, count)
      const ours = page.find(isOurs)
      const oldest = page.at(-1)?.position
      const isEnd = page.length < count || oldest === undefined
      if (ours || isEnd) return ours
      from = oldest
    }
  }

  /** Waits for the server, and looks at what it can. */
  async function start(): Promise<void> {
    for (let isTold = false; ; isTold = true) {
      try {
        const [last] = await newest()
        const [same] = last ? await streamEvents(last.streamId, FORWARDS, last.revision, 1) : []
        if (same && positionOf(same) === null) throw new UnusableEngine(olderServer)
        return
      } catch (fault) {
        if (!(fault instanceof EngineUnavailable)) throw fault
        if (isDenied(fault.cause)) {
          throw new UnusableEngine(
            `${engine} refuses the user of EVENTSTORE_URL: it takes one of the group $admins, and the right password.`,
            { cause: fault },
          )
        }
        if (!isTold) onWaiting(`${engine} does not answer yet (${reasonOf(fault)}): waiting for it.`)
        await pause(betweenStartsMs)
      }
    }
  }

  async function close(): Promise<void> {
    await Promise.all([...subscriptions].map((subscription) => subscription.stop()))
    isClosed = true
    await Promise.allSettled(underWay)
    const clients = [...new Set([client, near])]
    await Promise.all(clients.map((each) => answered(disposeMs, each.dispose()).catch(() => {})))
  }

  try {
    await start()
  } catch (fault) {
    await close()
    throw fault
  }

  return {
    append,
    readStream,
    readAll,
    async head() {
      const last = await newestOfOurs()
      return last ? fromEventStoreDb(last).position : null
    },
    subscribe(after, batch, handle, wanted) {
      const source = { client: near, options: { credentials }, limitMs: callMs, shown }
      const followed = followFeed(source, { after, batch, handle, wanted, onFault })
      const subscription: Subscription = {
        stop() {
          subscriptions.delete(subscription)
          return followed.stop()
        },
      }
      subscriptions.add(subscription)
      return subscription
    },
    async ready() {
      await newest()
    },
    close,
  }
}
