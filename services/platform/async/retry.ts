/** Retries after transient faults. */
import { setTimeout as pause } from 'node:timers/promises'

export interface RetryOptions {
  /** Whether the same attempt may succeed later. */
  readonly isTransient: (fault: unknown) => boolean
  /** The pauses between attempts, in milliseconds. Once they are used up, the last fault is thrown. */
  readonly pausesMs: Iterable<number>
  /** Ends the current pause and prevents further attempts. */
  readonly signal?: AbortSignal
}

/** Retries until an attempt succeeds. Throws a fault that is not transient at once, and a transient fault when no pause is left. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const pauses = options.pausesMs[Symbol.iterator]()
  for (;;) {
    try {
      return await attempt()
    } catch (fault) {
      const next = options.isTransient(fault) ? pauses.next() : undefined
      if (!next || next.done === true || options.signal?.aborted) throw fault
      await pause(next.value, undefined, options.signal && { signal: options.signal }).catch(() => {
        throw fault
      })
    }
  }
}

/** Pauses that double up to `longestMs`, as long as the next pause would end within `patienceMs` of this call. */
export function backOff(limits: {
  readonly firstMs: number
  readonly longestMs: number
  readonly patienceMs: number
}): Iterable<number> {
  return doubling(limits, performance.now() + limits.patienceMs)
}

function* doubling({ firstMs, longestMs }: { firstMs: number; longestMs: number }, end: number) {
  for (let ms = firstMs; performance.now() + ms < end; ms = Math.min(ms * 2, longestMs)) yield ms
}
