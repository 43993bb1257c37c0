/** Limits how often items are sent under a key: the first at once, and then only the latest after each interval. */

export interface Throttle<T> {
  /** Whether an item may be sent under the key now. */
  isFree(key: string): boolean
  /** Records that an item was sent under the key, so that the next ones have to wait. */
  sent(key: string): void
  /** Lets the item wait under the key, in place of an item that already waits under this key. */
  wait(key: string, item: T): void
  /** Drops the item that waits under the key. */
  forget(key: string): void
  stop(): void
}

/** Creates a throttle. `send` sends a waiting item; it runs in `serialized`, and again later if it fails. */
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
