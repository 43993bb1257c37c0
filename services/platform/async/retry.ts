/** Repeating what failed for a passing reason. */
import { setTimeout as pause } from 'node:timers/promises'

export interface RetryOptions {
  /** Whether the same attempt may succeed later. */
  readonly isTransient: (fault: unknown) => boolean
  /** Pauses between attempts, in milliseconds, in turn. The last fault is thrown once they are used up. */
  readonly pausesMs: Iterable<number>
  /** Ends the pause under way and makes no further attempt. */
  readonly signal?: AbortSignal
}

/** Attempts until one succeeds. Throws the fault of the last attempt: one that is not transient, or the one after the last pause. */
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

/** Pauses that double up to `longestMs`, for as long as one more would end within `patienceMs` of this call. */
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
