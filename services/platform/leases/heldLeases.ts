/** Tracks the leases that an adapter holds, until each lease is stopped. */
import type { RunningWork, Leases } from '../ports/leases.ts'

/**
 * Makes `hold` and `close` of an adapter from a function that holds one lease. That function runs until its signal is aborted; when it resolves, its
 * work has stopped.
 */
export function holdings(
  hold: (name: string, start: () => Promise<RunningWork>, signal: AbortSignal) => Promise<void>,
): Pick<Leases, 'hold' | 'close'> {
  const held = new Set<RunningWork>()
  return {
    hold(name, start) {
      const stopping = new AbortController()
      const ended = hold(name, start, stopping.signal)
      const one: RunningWork = {
        stop: async () => {
          stopping.abort()
          held.delete(one)
          await ended
        },
      }
      held.add(one)
      return one
    },
    close: async () => {
      await Promise.all([...held].map((one) => one.stop()))
    },
  }
}
