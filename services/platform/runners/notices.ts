/** The notices that every page shows, as reported by the connected runners. */
import type { Bus } from '#platform/ports/bus.ts'
import { hearRunners } from '#platform/runners/presence.ts'

export interface Notices {
  /** Each sentence once; when no runner is connected, a sentence about that. */
  read(): readonly string[]
  stop(): void
}

const nobody = 'No runner is connected. New tasks will wait.'

/** Starts listening. `now` is monotonic, in milliseconds. */
export function startNotices(bus: Bus, now?: () => number): Notices {
  const runners = hearRunners(bus, now)
  return {
    read() {
      const told = runners.now()
      if (told.length === 0) return runners.isSettled() ? [nobody] : []
      return [...new Set(told.flatMap(({ notices }) => notices))]
    },
    stop: runners.stop,
  }
}
