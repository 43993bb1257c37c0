/** Limits how often something is sent under a key: the first at once, and then the latest, at most once in a while. */

export interface Throttle<T> {
  /** Whether something may be sent under the key at once. */
  isFree(key: string): boolean
  /** Records that something was sent under the key, so that the next item waits. */
  sent(key: string): void
  /** The item waits, in place of the one that waited before. */
  wait(key: string, item: T): void
  /** Drops the item that waits under the key. */
  forget(key: string): void
  stop(): void
}

/** Creates a throttle. `send` sends an item that has waited; it runs in `serialized`, and again later when it fails. */
export function throttle<T>(
  everyMs: number,
  serialized: (work: () => Promise<void>) => Promise<void>,
  send: (key: string, item: T) => Promise<void>,
): Throttle<T> {
  const periods = new Map<string, { readonly timer: NodeJS.Timeout; item: T | undefined }>()
  let stopped = false

  function begin(key: string, item?: T): void {
    if (stopped) return
    clearTimeout(periods.get(key)?.timer)
    const timer = setTimeout(() => void serialized(() => end(key)), everyMs)
    periods.set(key, { timer, item })
  }

  async function end(key: string): Promise<void> {
    const item = periods.get(key)?.item
    periods.delete(key)
    if (item === undefined || stopped) return
    try {
      await send(key, item)
      begin(key)
    } catch {
      begin(key, item)
    }
  }

  return {
    isFree: (key) => !periods.has(key),
    sent: (key) => begin(key),
    wait(key, item) {
      const period = periods.get(key)
      if (period) period.item = item
      else begin(key, item)
    },
    forget(key) {
      const period = periods.get(key)
      if (period) period.item = undefined
    },
    stop() {
      stopped = true
      for (const { timer } of periods.values()) clearTimeout(timer)
      periods.clear()
    },
  }
}
