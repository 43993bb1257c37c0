/** Work that is done again and again, with a pause in between. */
import { setTimeout as pause } from 'node:timers/promises'

/** Does the work at once, and again after as many ms as it returns. `stop` ends the pause and resolves when the work has ended; it must not reject. */
export function repeat(work: (signal: AbortSignal) => Promise<number>): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = (async () => {
    while (!signal.aborted) {
      const pauseMs = await work(signal)
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}
