/** The bus within a single process: messages that are sent in one turn of the event loop are delivered in the next turn. */
import type { Bus } from '../ports/bus.ts'
import type { ReportFault } from '../ports/faults.ts'
import { openListeners } from './listeners.ts'

// The most messages that wait in one turn of the event loop. Further messages are dropped: they are only hints, which may be lost, and they would
// fill the memory.
const maxWaiting = 10_000

export function openInProcessBus({ onFault }: { onFault: ReportFault }): Bus {
  const listeners = openListeners(onFault)
  let waiting: (() => void)[] = []
  let lost = 0

  function deliver(): void {
    const due = waiting
    waiting = []
    if (lost > 0) onFault(`${lost} messages were lost: more than ${maxWaiting} were said at once`, undefined)
    lost = 0
    for (const tell of due) tell()
  }

  return {
    isWithinProcess: true,
    publish: (topic, message) => {
      const tell = listeners.tellingTo(topic)
      if (!tell) return
      if (waiting.length >= maxWaiting) {
        lost += 1
        return
      }
      if (waiting.length === 0) setImmediate(deliver)
      waiting.push(() => tell(message))
    },
    subscribe: listeners.subscribe,
    ready: async () => {},
    close: async () => {
      waiting = []
      listeners.clear()
    },
  }
}
