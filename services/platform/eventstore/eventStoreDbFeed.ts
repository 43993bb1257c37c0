/** Events as EventStoreDB pushes them, taken in batches; and the loop that takes the feed up again whenever it breaks. */
import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import {
  excludeSystemEvents,
  START,
  type AllStreamRecordedEvent,
  type BaseOptions,
  type EventStoreDBClient,
} from '@eventstore/db-client'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import type { Subscription } from '../ports/eventStore.ts'
import type { ReportFault } from '../ports/faults.ts'
import { within } from './eventStoreDbCalls.ts'
import { fromEventStoreDb, isOurs } from './eventStoreDbEnvelope.ts'

export interface FeedSource {
  readonly client: EventStoreDBClient
  readonly options: BaseOptions
  /** How long the server may take to confirm a subscription. */
  readonly limitMs: number
}

export interface Following {
  readonly after: Position | null
  readonly batch: number
  readonly handle: (events: readonly StoredEvent[]) => Promise<void>
  readonly onFault: ReportFault
}

const firstPauseMs = 50
const longestPauseMs = 5_000
// Servers before 23.10 do not say that a subscription has caught up: what is there then goes after this while.
const partialBatchMs = 200

/** Hands over batch after batch. Only what was handled is not asked for again after a break. */
export function followFeed(source: FeedSource, { after, batch, handle, onFault }: Following): Subscription {
  const stopping = new AbortController()
  const { signal } = stopping
  let feed: Feed | null = null
  let cursor = after
  let events: readonly StoredEvent[] = []
  let pauseMs = firstPauseMs

  async function step(): Promise<void> {
    if (events.length === 0) {
      if (!feed) {
        feed = await openFeed(source, cursor, batch * 2, signal)
        pauseMs = firstPauseMs
      }
      events = await feed.next(batch)
    }
    const last = events.at(-1)
    if (last === undefined || signal.aborted) return
    await handle(events)
    cursor = last.position
    events = []
    pauseMs = firstPauseMs
    // A long catch-up must let the process breathe between batches.
    await nextTurn()
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await step()
      } catch (fault) {
        if (signal.aborted) return
        const where = `after position ${cursor ?? 'none'}`
        if (events.length > 0) {
          onFault(`A subscriber failed ${where} and is given the same events again`, fault)
        } else {
          feed?.close()
          feed = null
          onFault(`The subscription to EventStoreDB broke ${where} and is taken up again`, fault)
        }
        await pause(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  const running = nextTurn().then(run)
  return {
    stop: () => {
      stopping.abort()
      feed?.close()
      return running
    },
  }
}

interface Feed {
  /**
   * The next events, at least one and at most `most`; none once it is closed. While it catches up it waits for `most`, then it
   * gives what there is. Throws when it broke and nothing is left in it.
   */
  next(most: number): Promise<readonly StoredEvent[]>
  close(): void
}

/** Subscribes to what comes after the position; holds back the server while `bound` events wait to be taken. */
async function openFeed(
  { client, options, limitMs }: FeedSource,
  after: Position | null,
  bound: number,
  signal: AbortSignal,
): Promise<Feed> {
  const queue: AllStreamRecordedEvent[] = []
  let last = after === null ? -1n : BigInt(after)
  let isCatchingUp = true
  let isClosed = false
  let broken: Error | null = null
  let ring = () => {}

  const subscription = client.subscribeToAll({
    fromPosition: after === null ? START : { commit: last, prepare: last },
    filter: excludeSystemEvents(),
    ...options,
  })
  const breakWith = (fault: Error) => {
    broken ??= fault
    ring()
  }
  const close = () => {
    isClosed = true
    ring()
    // It fails when there never was a connection; there is nothing to end then.
    subscription.unsubscribe().catch(() => {})
  }
  // These listeners stay: a fault that nobody listens to ends the process.
  subscription.on('error', breakWith)
  subscription.on('end', () => breakWith(new Error('the server ended the subscription')))
  subscription.on('caughtUp', () => {
    isCatchingUp = false
    ring()
  })
  subscription.on('data', ({ event }) => {
    if (isClosed || broken || !event || !isOurs(event) || event.position.commit <= last) return
    last = event.position.commit
    queue.push(event)
    if (queue.length >= bound) subscription.pause()
    ring()
  })

  const mustWait = (most: number) =>
    !isClosed && !broken && queue.length < most && (isCatchingUp || queue.length === 0)

  /** Resolves when something has changed, or after `ms`. */
  const change = (ms: number | null) =>
    new Promise<'changed' | 'same'>((resolve) => {
      const timer = ms === null ? undefined : setTimeout(() => resolve('same'), ms)
      ring = () => {
        clearTimeout(timer)
        resolve('changed')
      }
    })

  try {
    await within(limitMs, once(subscription, 'confirmation', { signal }))
  } catch (fault) {
    close()
    throw fault
  }
  return {
    async next(most) {
      while (mustWait(most)) {
        const isPartial = queue.length > 0
        if ((await change(isPartial ? partialBatchMs : null)) === 'same') break
      }
      if (isClosed) return []
      if (queue.length === 0 && broken) throw broken
      const taken = queue.splice(0, most)
      if (subscription.isPaused() && queue.length < bound) subscription.resume()
      return taken.map(fromEventStoreDb)
    },
    close,
  }
}
