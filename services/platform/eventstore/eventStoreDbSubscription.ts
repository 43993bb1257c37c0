/** Receives the events that EventStoreDB pushes and delivers them in batches. Subscribes again whenever the subscription breaks. */
import { once } from 'node:events'
import {
  eventTypeFilter,
  START,
  streamNameFilter,
  type AllStreamRecordedEvent,
  type AllStreamSubscription,
  type BaseOptions,
  type EventStoreDBClient,
  type Filter,
} from '@eventstore/db-client'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { streamPrefixes } from '#domain/kernel/streams.ts'
import { matches, type EventFilter, type Subscription } from '../ports/eventStore.ts'
import { deliver, type Batch, type Delivering } from './catchUpSubscription.ts'
import { answered } from './eventStoreDbCalls.ts'
import { fromEventStoreDb, isOurs } from './eventStoreDbEnvelope.ts'

export interface FeedSource {
  readonly client: EventStoreDBClient
  readonly options: BaseOptions
  /** How long the server may take to confirm a subscription, in milliseconds. */
  readonly limitMs: number
  /** How much of the log the node behind `client` is known to have. */
  readonly shown: Shown
}

/** How much of the log one node of a cluster is known to have. The node can answer only questions about that part. */
export interface Shown {
  /**
   * Call this for each subscription at the node. The returned function must be called with each position that the subscription delivers; after `lost`
   * it has no effect.
   */
  hear(): (position: Position) => void
  has(position: Position): boolean
  /** Call this when something broke, perhaps the connection: from now on, another node that is further behind may answer. */
  lost(): void
}

export function nothingShown(): Shown {
  let latest: Position | null = null
  let hearing = {}
  return {
    hear() {
      const mine = hearing
      return (position) => {
        if (mine === hearing && (latest === null || comparePositions(position, latest) > 0)) latest = position
      }
    },
    has: (position) => latest !== null && comparePositions(position, latest) <= 0,
    lost() {
      hearing = {}
      latest = null
    },
  }
}

export interface Following extends Omit<Delivering, 'engine' | 'next'> {
  readonly batch: number
  readonly wanted: EventFilter | undefined
}

// Servers before 23.10 do not report that a subscription has caught up. It counts as caught up if a batch is not full this long after its first
// event.
const fillTimeoutMs = 200

/** Delivers batch after batch. After a break, requests everything again that was not handled. */
export function followFeed(
  source: FeedSource,
  { after, batch, handle, wanted, onFault }: Following,
): Subscription {
  let feed: Feed | null = null
  const { stop } = deliver({
    engine: 'EventStoreDB',
    after,
    handle,
    onFault,
    async next(cursor, signal) {
      try {
        feed ??= await openFeed(source, { after: cursor, bound: batch * 2, wanted }, signal)
        return await feed.next(batch)
      } catch (fault) {
        feed?.close()
        feed = null
        source.shown.lost()
        throw fault
      }
    },
  })
  return {
    stop: () => {
      const stopped = stop()
      feed?.close()
      return stopped
    },
  }
}

interface Feed {
  /**
   * The next events, at most `most`; `null` when the feed is closed. Without an event, the batch says how far the log was searched for wanted events.
   * While catching up, waits for `most` events; afterwards, returns what there is. Throws when the subscription broke and no received event is left.
   */
  next(most: number): Promise<Batch | null>
  close(): void
}

interface OpenFeed {
  readonly subscription: AllStreamSubscription
  readonly bound: number
  readonly wanted: EventFilter | undefined
  readonly hear: (position: Position) => void
  readonly queue: AllStreamRecordedEvent[]
  /** The last received position, of an event or of a searched part of the log. */
  last: bigint
  told: bigint
  looked: bigint
  isCatchingUp: boolean
  /** When the oldest event in the queue arrived, in ms of `performance.now()`. */
  firstCameAt: number
  isClosed: boolean
  broken: Error | null
  ring: () => void
}

/** Subscribes to the events after the position `after`. Pauses the server while `bound` events are waiting. */
async function openFeed(
  { client, options, limitMs, shown }: FeedSource,
  { after, bound, wanted }: { after: Position | null; bound: number; wanted: EventFilter | undefined },
  signal: AbortSignal,
): Promise<Feed> {
  const from = after === null ? -1n : BigInt(after)
  const subscription = client.subscribeToAll({
    fromPosition: after === null ? START : { commit: from, prepare: from },
    filter: filterOf(wanted, (position) => passed(feed, position)),
    ...options,
  })
  const feed: OpenFeed = {
    subscription,
    bound,
    wanted,
    hear: shown.hear(),
    queue: [],
    last: from,
    told: from,
    looked: from,
    isCatchingUp: true,
    firstCameAt: 0,
    isClosed: false,
    broken: null,
    ring: () => {},
  }
  const breakWith = (fault: Error) => {
    feed.broken ??= fault
    feed.ring()
  }
  // These listeners must stay: an error event without a listener ends the process.
  subscription.on('error', breakWith)
  subscription.on('end', () => breakWith(new Error('the server ended the subscription')))
  subscription.on('caughtUp', () => {
    feed.isCatchingUp = false
    feed.ring()
  })
  subscription.on('data', ({ event }) => receive(feed, event))

  try {
    await answered(limitMs, once(subscription, 'confirmation', { signal }))
  } catch (fault) {
    close(feed)
    throw fault
  }
  return {
    next: (most) => next(feed, most),
    close: () => close(feed),
  }
}

function receive(feed: OpenFeed, event: AllStreamRecordedEvent | undefined): void {
  const { subscription, queue, wanted, bound } = feed
  if (feed.isClosed || feed.broken || !event || event.position.commit <= feed.last) return
  // Events are filtered here again: the server can filter by streams or by types, but not by both, and another program may have a stream with a
  // similar name.
  const { streamId: stream, type } = event
  if (!isOurs(event) || (wanted && !matches(wanted, { stream, type }))) {
    if (wanted) passed(feed, event.position.commit)
    return
  }
  feed.last = event.position.commit
  feed.hear(String(feed.last))
  if (queue.length === 0) feed.firstCameAt = performance.now()
  queue.push(event)
  if (queue.length >= bound) subscription.pause()
  takeLooked(feed)
  feed.ring()
}

/** Records that the server has searched the log up to `position`. The library may still hold earlier events, which must be handled first. */
function passed(feed: OpenFeed, position: bigint): void {
  feed.looked = position
  takeLooked(feed)
}

function takeLooked(feed: OpenFeed): void {
  if (feed.isClosed || feed.broken || feed.looked <= feed.last || feed.subscription.readableLength > 0) return
  feed.last = feed.looked
  feed.ring()
}

function close(feed: OpenFeed) {
  feed.isClosed = true
  feed.ring()
  // Fails when there was never a connection, in which case there is nothing to end.
  feed.subscription.unsubscribe().catch(() => {})
}

function mustWait(feed: OpenFeed, most: number) {
  return (
    !feed.isClosed &&
    !feed.broken &&
    feed.queue.length < most &&
    (feed.queue.length === 0 ? feed.last <= feed.told : feed.isCatchingUp)
  )
}

/** How long to wait for the rest of a batch that has begun; `null` when no batch has begun. */
function leftMs(feed: OpenFeed) {
  return feed.queue.length === 0 ? null : Math.max(0, feed.firstCameAt + fillTimeoutMs - performance.now())
}

/** Resolves to `changed` when `feed.ring` is called, and to `same` after `ms`. */
function change(feed: OpenFeed, ms: number | null) {
  return new Promise<'changed' | 'same'>((resolve) => {
    const timer = ms === null ? undefined : setTimeout(() => resolve('same'), ms)
    feed.ring = () => {
      clearTimeout(timer)
      resolve('changed')
    }
  })
}

async function next(feed: OpenFeed, most: number): Promise<Batch | null> {
  while (mustWait(feed, most)) if ((await change(feed, leftMs(feed))) === 'same') feed.isCatchingUp = false
  if (feed.isClosed) return null
  if (feed.broken && feed.queue.length === 0 && feed.last <= feed.told) throw feed.broken
  const taken = feed.queue.splice(0, most)
  feed.firstCameAt = performance.now()
  if (feed.subscription.isPaused() && feed.queue.length < feed.bound) feed.subscription.resume()
  const newest = taken.at(-1)?.position.commit ?? feed.last
  feed.told = feed.queue.length === 0 ? feed.last : newest
  return { events: taken.map(fromEventStoreDb), upTo: String(feed.told) }
}

/** The filter for the server, so that it does not send unwanted terminal output and events of other programs. */
function filterOf(wanted: EventFilter | undefined, passed: (position: bigint) => void): Filter {
  if (!wanted) return streamNameFilter({ prefixes: [...streamPrefixes] })
  // The server reports its position after every 32 events that it skips.
  const checkpointReached: Filter['checkpointReached'] = (_, { commit }) => passed(commit)
  return wanted.types
    ? eventTypeFilter({ checkpointReached, regex: `^(${wanted.types.join('|')})$` })
    : streamNameFilter({ checkpointReached, prefixes: [...wanted.streams] })
}
