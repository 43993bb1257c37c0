/** A bus that delivers in the same turn, keeps what was said, and can be away: for tests that set the time themselves. */
import type { Bus, BusMessages, Topic } from '#platform/ports/bus.ts'

export interface HearingBus extends Bus {
  /** While it is away nothing arrives. */
  isAway: boolean
  /** What arrived under a topic, in order. */
  said<T extends Topic>(topic: T): readonly BusMessages[T][]
}

type Listeners = { readonly [T in Topic]: Set<(message: BusMessages[T]) => void> }
type Said = { readonly [T in Topic]: BusMessages[T][] }

export function hearingBus(): HearingBus {
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
  const said: Said = {
    appended: [],
    words: [],
    projected: [],
    runner: [],
    presence: [],
    installations: [],
    hostWait: [],
    quarantine: [],
  }
  return {
    isAway: false,
    said: (topic) => said[topic],
    publish(topic, message) {
      if (this.isAway) return
      said[topic].push(message)
      for (const listen of listeners[topic]) listen(message)
    },
    subscribe(topic, listen) {
      listeners[topic].add(listen)
      return () => void listeners[topic].delete(listen)
    },
    ready: async () => {},
    close: async () => {},
  }
}
