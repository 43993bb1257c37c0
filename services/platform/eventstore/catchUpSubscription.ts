/** The loop of an in-process subscription: reads after a cursor, delivers, and sleeps until something is appended. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Position } from '#domain/kernel/event.ts'
import type { HandleEvents, LogRecord, Subscription } from '../ports/eventStore.ts'
import type { ReportFault } from '../ports/faults.ts'

/** A subscription that must be woken when there may be new events. */
export interface Follower extends Subscription {
  wake(): void
}

export interface Following {
  readonly after: Position | null
  /** The next events after the cursor, at most one batch, and how far the log was searched; `null` when there is nothing more. */
  readonly read: (after: Position | null) => Found | null
  readonly handle: HandleEvents
  readonly onFault: ReportFault
}

export interface Found {
  readonly events: readonly LogRecord[]
  readonly upTo: Position
}

const firstPauseMs = 50
const longestPauseMs = 5_000

export function follow({ after, read, handle, onFault }: Following): Follower {
  const stopping = new AbortController()
  const { signal } = stopping
  let rouse = () => {}

  async function run(): Promise<void> {
    let cursor = after
    let found: Found | null = null
    let pauseMs = firstPauseMs
    while (!signal.aborted) {
      try {
        found ??= read(cursor)
        if (found === null) {
          // No other code runs between the read and this line, so no wake-up is missed.
          await new Promise<void>((resolve) => {
            rouse = resolve
          })
          continue
        }
        await handle(found.events, found.upTo)
        cursor = found.upTo
        found = null
        pauseMs = firstPauseMs
        // During a long catch-up, other work must get its turn between batches.
        await nextTurn()
      } catch (fault) {
        onFault(
          `A subscriber failed after position ${cursor ?? 'none'} and is given the same events again`,
          fault,
        )
        await pause(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  const running = nextTurn().then(run)
  return {
    wake: () => rouse(),
    stop: () => {
      stopping.abort()
      rouse()
      return running
    },
  }
}
