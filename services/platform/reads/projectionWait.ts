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
  /** What each wait does when the projection has moved on, with the position that it awaits. */
  const waiting = new Map<() => void, Position>()

  function moveTo(position: Position | null): void {
    if (position === null || has(position)) return
    reached = position
    for (const check of waiting.keys()) check()
  }
  const has = (position: Position): boolean => reached !== null && comparePositions(position, reached) <= 0
  /**
   * Asks the engines once for all who wait. A position is also reached if no event after the checkpoint and up to the position concerns the read
   * models: the engine may tell the projector only later that it has skipped such events.
   */
  async function ask(): Promise<void> {
    const checkpoint = await readStore.checkpoint(mainProjection)
    moveTo(checkpoint)
    if (checkpoint === null || waiting.size === 0) return
    // The head is read first: an event that comes between the two reads would otherwise be counted but not seen.
    const head = await eventStore.head()
    const [next] = await eventStore.readAll(checkpoint, 1, projectedEvents)
    for (const position of waiting.values()) {
      const isInLog = head !== null && comparePositions(position, head) <= 0
      if (isInLog && (next === undefined || comparePositions(next.position, position) > 0)) moveTo(position)
    }
  }

  let isAsking = false
  const poll = setInterval(() => {
    if (waiting.size === 0 || isAsking) return
    isAsking = true
    ask()
      // If an engine is unavailable, the deadline ends the wait.
      .catch(() => {})
      .finally(() => (isAsking = false))
  }, pollMs)
  poll.unref()

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
          resolve(done)
        }
        const check = () => has(position) && settle(true)
        const deadline = setTimeout(settle, withinMs, false)
        waiting.set(check, position)
      })
    },
    close() {
      unsubscribe()
      clearInterval(poll)
    },
  }
}
