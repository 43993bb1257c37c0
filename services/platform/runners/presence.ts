/** The connected runners, each by its last heartbeat. */
import type { Bus, BusMessages } from '#platform/ports/bus.ts'

export interface HeardRunners {
  /** The last heartbeats of the connected runners. */
  now(): readonly BusMessages['runner'][]
  /** Whether every connected runner has had time to send a heartbeat. */
  isSettled(): boolean
  stop(): void
}

/** A runner sends a heartbeat each second. */
export const silentMs = 5_000

/** Starts listening; `onHeard` is called after each heartbeat. `now` is monotonic, in milliseconds. */
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
