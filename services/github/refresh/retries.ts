/** Ids to be read again after a pause, because a reading failed or was not complete. The pause doubles each time in a row. Times are in ms. */

export interface Retries {
  /**
   * Records that a reading failed or was not complete. The first pause is `pauseMs`. An id whose pause would be longer than `allMs` is dropped,
   * because every id is read at that interval anyway.
   */
  put(id: string, pauseMs: number, now: number): void
  /** Puts back an id that was not tried. It is due after the same pause again, or after `pauseMs` if it had none. */
  keep(id: string, pauseMs: number, now: number): void
  /** Records a success: the id need not be read again, and its next pause counts as its first. */
  settle(id: string): void
  take(now: number): readonly string[]
  /** When the next id is due; `undefined` when no id waits. */
  dueAt(): number | undefined
}

interface Waiting {
  /** When the id is to be read again; `undefined` while it is being read. */
  readonly dueAt: number | undefined
  readonly pauseMs: number
}

/** Keeps at most `max` ids. An id is dropped when its pause would be longer than `allMs`, the interval at which every id is read anyway. */
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
