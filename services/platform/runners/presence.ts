/** The runners that are heard of, each by what it last said of itself. */
import type { Bus, BusMessages } from '#platform/ports/bus.ts'

export interface HeardRunners {
  /** What those that are there have said, by their names. */
  now(): readonly BusMessages['runner'][]
  /** Whether any runner that is there would have been heard by now. */
  isSettled(): boolean
  stop(): void
}

/** A runner speaks each second. */
export const silentMs = 5_000

/** Begins to listen; `onHeard` is told after each saying. `now` is monotonic, in milliseconds. */
export function hearRunners(
  bus: Bus,
  now: () => number = () => performance.now(),
  onHeard: () => void = () => undefined,
): HeardRunners {
  const begun = now()
  const runners = new Map<string, { said: BusMessages['runner']; at: number }>()
  const stop = bus.subscribe('runner', (said) => {
    runners.set(said.runnerId, { said, at: now() })
    onHeard()
  })
  return {
    now() {
      for (const [id, { at }] of runners) if (now() - at > silentMs) runners.delete(id)
      return [...runners.values()]
        .map(({ said }) => said)
        .toSorted((one, other) => (one.runnerId < other.runnerId ? -1 : 1))
    },
    isSettled: () => now() - begun > silentMs,
    stop,
  }
}
