/** What a banner on every page says: what the runners that are there have told of themselves. */
import type { Bus } from '#platform/ports/bus.ts'

export interface Notices {
  /** Each sentence once; when no runner is heard of, that. */
  read(): readonly string[]
  stop(): void
}

/** A runner speaks each second. */
const silentMs = 5_000
const nobody = 'No runner is heard of: what is started waits until one comes.'

/** Begins to listen. `now` is monotonic, in milliseconds. */
export function startNotices(bus: Bus, now: () => number = () => performance.now()): Notices {
  const begun = now()
  const runners = new Map<string, { notices: readonly string[]; at: number }>()
  const stop = bus.subscribe('runner', ({ runnerId, notices }) =>
    runners.set(runnerId, { notices, at: now() }),
  )
  return {
    read() {
      for (const [id, { at }] of runners) if (now() - at > silentMs) runners.delete(id)
      if (runners.size === 0) return now() - begun > silentMs ? [nobody] : []
      return [...new Set([...runners.values()].flatMap(({ notices }) => notices))]
    },
    stop,
  }
}
