/** Waits for an event in a stream. */
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { EventLog } from './eventLog.ts'

const pollMs = 500
const readBatch = 500

/**
 * The first event from revision `from` on that `match` accepts, or `undefined` after `withinMs`. A message of the bus only causes another look at the
 * log.
 */
export async function awaitEvent<T extends AnyRecorded>(
  { log, bus }: { log: EventLog; bus: Bus },
  wait: { stream: string; from: number; withinMs: number; match: (event: AnyRecorded) => event is T },
): Promise<T | undefined> {
  let next = wait.from
  let wake: () => void = () => {}
  const unsubscribe = bus.subscribe('appended', (event) => {
    if (event.stream === wait.stream) wake()
  })
  const deadline = Date.now() + wait.withinMs
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => (wake = resolve))
      const events = await log.read(wait.stream, next, readBatch)
      const found = events.find(wait.match)
      if (found) return found
      next += events.length
      if (events.length === readBatch) continue
      const left = deadline - Date.now()
      if (left <= 0) return undefined
      const timer = setTimeout(wake, Math.min(pollMs, left))
      await woken
      clearTimeout(timer)
    }
  } finally {
    unsubscribe()
  }
}
