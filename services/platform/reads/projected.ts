/** Waits until the read models include the events up to a position, so that a read after a write shows it. */
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { projectedEvents } from './documents.ts'

/** The projection whose documents the API reads. */
export const mainProjection = 'main'

export interface Projected {
  /** Resolves to true when the read models include the events up to the position, or to false after `withinMs`. */
  waitFor(position: Position, withinMs: number): Promise<boolean>
  close(): void
}

const pollMs = 250

/** Follows the main projection: by messages of the bus and, if none arrive, by its checkpoint and the log. */
export function projected(engines: {
  bus: Bus
  readStore: Pick<ReadStore, 'checkpoint'>
  eventStore: Pick<EventStore, 'readAll' | 'head'>
}): Projected {
  const { readStore, eventStore } = engines
  let reached: Position | null = null
  const waiting = new Set<() => void>()

  function moveTo(position: Position | null): void {
    if (position === null || (reached !== null && comparePositions(position, reached) <= 0)) return
    reached = position
    for (const check of waiting) check()
  }
  const has = (position: Position): boolean => reached !== null && comparePositions(position, reached) <= 0
  /**
   * Whether no event after `after` and up to the position concerns the read models. There is nothing to wait for then, even if the engine tells the
   * projector only later that it has skipped the events.
   */
  async function hasNoWaiters(after: Position | null, position: Position): Promise<boolean> {
    // The head is read first: an event that comes between the two reads would otherwise be counted but not seen.
    const head = await eventStore.head()
    if (head === null || comparePositions(position, head) > 0) return false
    const [next] = await eventStore.readAll(after, 1, projectedEvents)
    return next === undefined || comparePositions(next.position, position) > 0
  }

  const unsubscribe = engines.bus.subscribe('projected', (message) => {
    if (message.projection === mainProjection) moveTo(message.position)
  })

  return {
    waitFor(position, withinMs) {
      if (has(position)) return Promise.resolve(true)
      return new Promise((resolve) => {
        const settle = (done: boolean) => {
          waiting.delete(check)
          clearTimeout(deadline)
          clearInterval(poll)
          resolve(done)
        }
        const check = () => has(position) && settle(true)
        const ask = async () => {
          const checkpoint = await readStore.checkpoint(mainProjection)
          moveTo(checkpoint)
          // Reached for all who wait for it later too, so that they need not wait for the next question.
          if (checkpoint !== null && !has(position) && (await hasNoWaiters(checkpoint, position)))
            moveTo(position)
        }
        const deadline = setTimeout(settle, withinMs, false)
        const poll = setInterval(() => {
          ask().catch(() => {
            // If an engine is unavailable, the deadline ends the wait.
          })
        }, pollMs)
        waiting.add(check)
      })
    },
    close: unsubscribe,
  }
}
