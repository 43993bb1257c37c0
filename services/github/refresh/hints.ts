/** What the code host hinted at, by id: each once, until it is due to be read. Pure except for the maps that it keeps; times in ms. */

/** Hints that come often, or may be false, lead to a reading only now and then. */
export type Hint = 'soon' | 'now and then'

export interface Hints {
  /** If there is no room for it, the next reading of all finds it. */
  add(id: string, hint: Hint, now: number): void
  /** Those that are due, which count as read now. */
  take(now: number): readonly string[]
  /** Could not be read: it is due again after the same time as after a reading. `false` if there is no room for it. */
  keep(id: string, now: number): boolean
  size(): number
  /** When the next is due; `undefined` where none waits. */
  dueAt(): number | undefined
}

export interface HintTimes {
  /** From a hint to the reading, so that a burst of hints is one. */
  readonly restMs: number
  /** Between two readings of one that `now and then` hints lead to. */
  readonly againMs: number
}

/** Keeps at most `max`. */
export function hints({ restMs, againMs }: HintTimes, max: number): Hints {
  const due = new Map<string, number>()
  /** By repository, in the order of reading. */
  const readAt = new Map<string, number>()
  const put = (id: string, at: number) => {
    const before = due.get(id)
    if (before === undefined && due.size >= max) return false
    due.set(id, Math.min(before ?? at, at))
    return true
  }
  return {
    add(id, hint, now) {
      const last = readAt.get(id) ?? Number.NEGATIVE_INFINITY
      put(id, hint === 'now and then' ? Math.max(now + restMs, last + againMs) : now + restMs)
    },
    take(now) {
      const taken = [...due].filter(([, at]) => at <= now).map(([id]) => id)
      for (const id of taken) {
        due.delete(id)
        readAt.delete(id)
        readAt.set(id, now)
      }
      for (const [id, at] of readAt) {
        if (readAt.size <= max && at + againMs > now) break
        readAt.delete(id)
      }
      return taken
    },
    keep: (id, now) => put(id, now + againMs),
    size: () => due.size,
    dueAt: () => (due.size === 0 ? undefined : Math.min(...due.values())),
  }
}
