/** A bus that delivers immediately, records messages, and can be disconnected: for tests that control the time. */
import { openListeners } from '#platform/bus/listeners.ts'
import type { Bus, BusMessages, Topic } from '#platform/ports/bus.ts'

export interface HearingBus extends Bus {
  /** While it is `true`, nothing is delivered. */
  isAway: boolean
  /** The messages that were delivered under a topic, in order. */
  said<T extends Topic>(topic: T): readonly BusMessages[T][]
}

type Said = { readonly [T in Topic]: BusMessages[T][] }

export function hearingBus(): HearingBus {
  const listeners = openListeners((words, fault) => {
    throw new Error(words, { cause: fault })
  })
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
      listeners.tellingTo(topic)?.(message)
    },
    subscribe: listeners.subscribe,
    ready: async () => {},
    close: async () => {},
  }
}
