/** The loop under an in-process subscription: read after a cursor, hand over, sleep until something is appended. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import type { Subscription } from '../ports/eventStore.ts'
import type { ReportFault } from '../ports/faults.ts'

/** A subscription that must be told when there may be something new. */
export interface Follower extends Subscription {
  wake(): void
}

export interface Following {
  readonly after: Position | null
  /** The next events after the cursor, at most one batch; none when there are no more. */
  readonly read: (after: Position | null) => readonly StoredEvent[]
  readonly handle: (events: readonly StoredEvent[]) => Promise<void>
  readonly onFault: ReportFault
}

const firstPauseMs = 50
const longestPauseMs = 5_000

export function follow({ after, read, handle, onFault }: Following): Follower {
  const stopping = new AbortController()
  const { signal } = stopping
  let rouse = () => {}

  async function run(): Promise<void> {
    let cursor = after
    let events: readonly StoredEvent[] = []
    let pauseMs = firstPauseMs
    while (!signal.aborted) {
      try {
        if (events.length === 0) events = read(cursor)
        const last = events.at(-1)
        if (last === undefined) {
          // Nothing runs between the read and this line, so no wake is missed.
          await new Promise<void>((resolve) => {
            rouse = resolve
          })
          continue
        }
        await handle(events)
        cursor = last.position
        events = []
        pauseMs = firstPauseMs
        // A long catch-up must let the process breathe between batches.
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
