/**
 * Keeps what is to be read again, by id, with a pause that doubles each time in a row. Pure except for the map that it keeps; times are in
 * milliseconds.
 */

export interface Retries {
  /** Adds an id; the first pause is `pauseMs`. If the pause would last beyond the next reading of all, the id is left to that. */
  put(id: string, pauseMs: number, now: number): void
  /** Reports an id that was not tried: it is due after the same pause again, or after `pauseMs` if it had none. */
  keep(id: string, pauseMs: number, now: number): void
  /** Reports that an id need not be read again, so that its next pause is a short one. */
  settle(id: string): void
  take(now: number): readonly string[]
  /** When the next id is due; `undefined` when none waits. */
  dueAt(): number | undefined
}

interface Waiting {
  /** When the id is due; `undefined` while it is being read. */
  readonly dueAt: number | undefined
  readonly pauseMs: number
}

/** Keeps at most `max`, and no pause longer than `allMs`, the time between two readings of all. */
export function retries(allMs: number, max: number): Retries {
  const waiting = new Map<string, Waiting>()
  const wait = (id: string, now: number, pauseMs: number) => {
    if (!waiting.has(id) && waiting.size >= max) return
    if (pauseMs > allMs) waiting.delete(id)
    else waiting.set(id, { dueAt: now + pauseMs, pauseMs })
  }
  return {
    put(id, pauseMs, now) {
      const before = waiting.get(id)
      wait(id, now, before === undefined ? pauseMs : Math.max(before.pauseMs * 2, pauseMs))
    },
    keep: (id, pauseMs, now) => wait(id, now, waiting.get(id)?.pauseMs ?? pauseMs),
    settle: (id) => void waiting.delete(id),
    take(now) {
      const due = [...waiting].filter(([, { dueAt }]) => dueAt !== undefined && dueAt <= now)
      for (const [id, { pauseMs }] of due) waiting.set(id, { dueAt: undefined, pauseMs })
      return due.map(([id]) => id)
    },
    dueAt() {
      const times = [...waiting.values()].flatMap(({ dueAt }) => dueAt ?? [])
      return times.length === 0 ? undefined : Math.min(...times)
    },
  }
}
