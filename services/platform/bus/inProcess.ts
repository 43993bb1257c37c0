/** The bus within a single process: messages sent in one turn are delivered in the next. */
import type { Bus, BusMessages, Topic } from '../ports/bus.ts'
import type { ReportFault } from '../ports/faults.ts'

// Beyond this, the rest of a burst within one turn is dropped: hints may be lost, but memory is limited.
const mostWaiting = 10_000

type Listeners = { readonly [T in Topic]: Set<{ readonly listen: (message: BusMessages[T]) => void }> }

export function openInProcessBus({ onFault }: { onFault: ReportFault }): Bus {
  const listeners: Listeners = {
    appended: new Set(),
    words: new Set(),
    projected: new Set(),
    runner: new Set(),
    presence: new Set(),
    installations: new Set(),
    hostWait: new Set(),
    quarantine: new Set(),
  }
  let waiting: (() => void)[] = []
  let lost = 0

  function deliver(): void {
    const said = waiting
    waiting = []
    if (lost > 0) onFault(`${lost} messages were lost: more than ${mostWaiting} were said at once`, undefined)
    lost = 0
    for (const tell of said) tell()
  }

  return {
    publish: (topic, message) => {
      const hearing = [...listeners[topic]]
      if (hearing.length === 0) return
      if (waiting.length >= mostWaiting) {
        lost += 1
        return
      }
      if (waiting.length === 0) setImmediate(deliver)
      waiting.push(() => {
        for (const listener of hearing) {
          if (!listeners[topic].has(listener)) continue
          try {
            listener.listen(message)
          } catch (fault) {
            onFault(`A listener to ${topic} failed`, fault)
          }
        }
      })
    },
    subscribe: (topic, listen) => {
      // Wrapped, so that one function can subscribe twice.
      const listener = { listen }
      listeners[topic].add(listener)
      return () => {
        listeners[topic].delete(listener)
      }
    },
    ready: async () => {},
    close: async () => {
      waiting = []
      for (const listening of Object.values(listeners)) listening.clear()
    },
  }
}
