/** The listeners to each topic within one process. */
import type { Bus, BusMessages, Topic } from '../ports/bus.ts'
import type { ReportFault } from '../ports/faults.ts'

export interface Listeners extends Pick<Bus, 'subscribe'> {
  /**
   * Returns a function that passes a message to the current listeners of `topic`, except those that have unsubscribed by then. `undefined` when
   * nobody listens.
   */
  tellingTo<T extends Topic>(topic: T): ((message: BusMessages[T]) => void) | undefined
  clear(): void
}

export function openListeners(onFault: ReportFault): Listeners {
  const listeners: { readonly [T in Topic]: Set<{ listen(message: BusMessages[T]): void }> } = {
    appended: new Set(),
    words: new Set(),
    projected: new Set(),
    runner: new Set(),
    presence: new Set(),
    installations: new Set(),
    hostWait: new Set(),
    quarantine: new Set(),
  }
  return {
    subscribe(topic, listen) {
      // The function is wrapped in an object, so that one function can subscribe twice.
      const listener = { listen }
      listeners[topic].add(listener)
      return () => void listeners[topic].delete(listener)
    },
    tellingTo(topic) {
      const hearing = [...listeners[topic]]
      if (hearing.length === 0) return undefined
      return (message) => {
        for (const listener of hearing) {
          if (!listeners[topic].has(listener)) continue
          try {
            listener.listen(message)
          } catch (fault) {
            onFault(`A listener to ${topic} failed`, fault)
          }
        }
      }
    },
    clear() {
      for (const listening of Object.values(listeners)) listening.clear()
    },
  }
}
