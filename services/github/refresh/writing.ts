/** Makes the writes at the code host that the log records as due: at once, and again from time to time if they had to wait. */
import { LRUCache } from 'lru-cache'
import { rounds } from '#platform/async/rounds.ts'
import { startReactor, type ReactorEngines } from '#platform/eventlog/reactor.ts'
import type { Logger } from '#platform/log.ts'
import type { EventFilter, LogRecord } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import type { Projected } from '#platform/reads/projected.ts'

export interface WritingEngines extends ReactorEngines {
  readonly projected: Pick<Projected, 'waitFor'>
  readonly logger: Pick<Logger, 'error' | 'warn'>
}

export interface Writing {
  /** Events after which something may be due. */
  readonly filter: EventFilter
  /** How long to wait after them, so that several changes go into one comment. */
  readonly delayMs?: (events: readonly LogRecord[]) => number
  /** Between two rounds without such an event. */
  readonly intervalMs: number
  /** One round, which ends early once `isStopped`. */
  readonly round: (isStopped: () => boolean) => Promise<void>
  /** The message for the log when a round failed. */
  readonly failed: string
}

const batch = 100
const foldTimeoutMs = 5_000

/** Writes until it is stopped, one round at a time, so that no other round looks up what is just being written. */
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

/** How many waiting owners are remembered, and how long they wait if the code host does not say. */
const maxResting = 2_000
const restMs = 60_000

/** Owners whose requests the code host refuses for now. */
export interface RestingOwners {
  has(ownerId: string): boolean
  /** Makes an owner wait for a minute, or as long as the code host says. */
  add(ownerId: string, ms: number | undefined): void
}

export function restingOwners(): RestingOwners {
  /** When each owner's wait ends, in milliseconds of the monotonic clock. */
  const until = new LRUCache<string, number>({ max: maxResting })
  return {
    has: (ownerId) => (until.get(ownerId) ?? 0) > performance.now(),
    add: (ownerId, ms = restMs) => void until.set(ownerId, performance.now() + ms),
  }
}
