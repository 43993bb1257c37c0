/** Waiting until a projection has folded a position: what makes a read after a write show it. */
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'

/** The projection whose documents the API reads. */
export const mainProjection = 'main'

export interface Projected {
  /** Resolves to true once the position is folded, to false after `withinMs`. */
  waitFor(position: Position, withinMs: number): Promise<boolean>
  close(): void
}

const pollMs = 250

/** Follows the main projection by the bus, and by its checkpoint where the bus was silent. */
export function projected(engines: { bus: Bus; readStore: ReadStore }): Projected {
  let reached: Position | null = null
  const waiting = new Set<() => void>()

  function moveTo(position: Position | null): void {
    if (position === null || (reached !== null && comparePositions(position, reached) <= 0)) return
    reached = position
    for (const check of waiting) check()
  }
  const has = (position: Position): boolean => reached !== null && comparePositions(position, reached) <= 0
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
        const ask = () =>
          engines.readStore.checkpoint(mainProjection).then(moveTo, () => {
            // The deadline answers for a read store that is away.
          })
        const deadline = setTimeout(settle, withinMs, false)
        const poll = setInterval(ask, pollMs)
        waiting.add(check)
      })
    },
    close: unsubscribe,
  }
}
