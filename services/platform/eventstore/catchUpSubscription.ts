/** The loop of every subscription: reads the next events, delivers them until that succeeds, and continues after them. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Position } from '#domain/kernel/event.ts'
import type { HandleEvents, LogRecord, Subscription } from '../ports/eventStore.ts'
import type { ReportFault } from '../ports/faults.ts'

/** At most one batch of events, and the position up to which the log was searched for them. */
export interface Batch {
  readonly events: readonly LogRecord[]
  readonly upTo: Position
}

export interface Delivering {
  /** The engine's name in reports to `onFault`. */
  readonly engine: string
  readonly after: Position | null
  /**
   * Resolves with the next batch after `after`, which may have no events, or with `null` when the signal was aborted. Is called again after a fault.
   */
  readonly next: (after: Position | null, signal: AbortSignal) => Promise<Batch | null>
  readonly handle: HandleEvents
  readonly onFault: ReportFault
}

const firstPauseMs = 50
const longestPauseMs = 5_000

export function deliver({ engine, after, next, handle, onFault }: Delivering): Subscription {
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    let cursor = after
    let batch: Batch | null = null
    let pauseMs = firstPauseMs
    while (!signal.aborted) {
      try {
        batch ??= await next(cursor, signal)
        if (batch === null || signal.aborted) return
        await handle(batch.events, batch.upTo)
        cursor = batch.upTo
        batch = null
        pauseMs = firstPauseMs
        // Without this pause, a long catch-up would keep all other work of this process waiting.
        await nextTurn()
      } catch (fault) {
        const where = `after position ${cursor ?? 'none'}`
        if (batch !== null) onFault(`A subscriber failed ${where} and is given the same events again`, fault)
        else if (!signal.aborted)
          onFault(`The subscription to ${engine} broke ${where} and is taken up again`, fault)
        await pause(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  const running = nextTurn().then(run)
  return {
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

/** A subscription that must be woken when there may be new events. */
export interface Follower extends Subscription {
  wake(): void
}

export interface Following extends Omit<Delivering, 'next'> {
  /** The next events after the cursor; `null` when there are none. */
  readonly read: (after: Position | null) => Batch | null
}

export function follow({ read, ...delivering }: Following): Follower {
  let rouse = () => {}
  const { stop } = deliver({
    ...delivering,
    async next(after, signal) {
      for (;;) {
        const batch = read(after)
        if (batch !== null || signal.aborted) return batch
        // No other code runs between the read and this line, so no wake-up is lost.
        await new Promise<void>((resolve) => (rouse = resolve))
      }
    },
  })
  return {
    wake: () => rouse(),
    stop: () => {
      const stopped = stop()
      rouse()
      return stopped
    },
  }
}
