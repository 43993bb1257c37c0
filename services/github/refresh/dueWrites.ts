/** Runs rounds that write due texts, such as comments and replies, at the code host: soon after an event, and from time to time. */
import { LRUCache } from 'lru-cache'
import { rounds } from '#platform/async/rounds.ts'
import { startReactor, type ReactorEngines } from '#platform/eventlog/reactor.ts'
import type { Logger } from '#platform/log.ts'
import type { EventFilter, LogRecord } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import type { Projected } from '#platform/reads/projectionWait.ts'

export interface WritingEngines extends ReactorEngines {
  readonly projected: Pick<Projected, 'waitFor'>
  readonly logger: Pick<Logger, 'error' | 'warn'>
}

export interface Writing {
  /** The events after which a write may be due. */
  readonly filter: EventFilter
  /** How long to wait after these events, so that several changes go into one comment. */
  readonly delayMs?: (events: readonly LogRecord[]) => number
  /** The time between two rounds when no event of the filter comes. */
  readonly intervalMs: number
  /** Runs one round, which ends early when `isStopped` returns true. */
  readonly round: (isStopped: () => boolean) => Promise<void>
  /** The message for the log when a round failed. */
  readonly failed: string
}

const batch = 100
const foldTimeoutMs = 5_000

/** Runs `round` again and again until it is stopped. Rounds never overlap, so that no round searches for a comment that another round is writing. */
export async function startWriting(
  engines: WritingEngines,
  { filter, delayMs = () => 0, intervalMs, round, failed }: Writing,
): Promise<RunningWork> {
  let isStopped = false
  const writing = rounds(async () => {
    try {
      await round(() => isStopped)
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable)) engines.logger.error({ err: fault }, failed)
    } finally {
      writing.within(intervalMs)
    }
  })
  const reactor = await startReactor(engines, {
    from: 'head',
    filter,
    batch,
    handle: async (events, upTo) => {
      if (events.length === 0) return
      await engines.projected.waitFor(upTo, foldTimeoutMs)
      writing.within(delayMs(events))
    },
  })
  writing.within(0)
  return {
    async stop() {
      isStopped = true
      await reactor.stop()
      await writing.stop()
    },
  }
}

const maxResting = 2_000
/** How long requests for an owner wait if the code host does not say how long. */
const restMs = 60_000

/** Owners for whom the code host accepts no requests for now. */
export interface RestingOwners {
  has(ownerId: string): boolean
  /** Makes the owner wait for `ms`, or for a minute if the code host does not say how long. */
  add(ownerId: string, ms: number | undefined): void
}

export function restingOwners(): RestingOwners {
  /** The end of each owner's wait, in ms of the monotonic clock. */
  const until = new LRUCache<string, number>({ max: maxResting })
  return {
    has: (ownerId) => (until.get(ownerId) ?? 0) > performance.now(),
    add: (ownerId, ms = restMs) => void until.set(ownerId, performance.now() + ms),
  }
}
