/** Keeps hints of the code host, by id, until they are due to be followed, and works on them. Times are in milliseconds. */
import { rounds } from '#platform/async/rounds.ts'

/** Hints that are frequent, or may be false, cause a reading only now and then. */
export type Hint = 'soon' | 'now and then'

export interface Hints {
  /** Adds a hint. Without room for it, the next reading of all finds it. */
  add(id: string, hint: Hint, now: number): void
  /** Takes the ids that are due, which then count as read. */
  take(now: number): readonly string[]
  /** Reports an id that could not be read: it is due again after the same time as after a reading. `false` if there is no room for it. */
  keep(id: string, now: number): boolean
  size(): number
  /** When the next id is due; `undefined` when none waits. */
  dueAt(): number | undefined
}

export interface HintTimes {
  /** The time from a hint to the reading, so that a burst of hints causes one reading. */
  readonly burstPauseMs: number
  /** Between two readings of one that `now and then` hints lead to. */
  readonly minIntervalMs: number
}

/** Keeps each id once, at most `max` of them. Pure except for the maps that it keeps. */
export function hints({ burstPauseMs, minIntervalMs }: HintTimes, max: number): Hints {
  const due = new Map<string, number>()
  /** When each repository was last read, in the order of reading. */
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
      put(
        id,
        hint === 'now and then' ? Math.max(now + burstPauseMs, last + minIntervalMs) : now + burstPauseMs,
      )
    },
    take(now) {
      const taken = [...due].filter(([, at]) => at <= now).map(([id]) => id)
      for (const id of taken) {
        due.delete(id)
        readAt.delete(id)
        readAt.set(id, now)
      }
      for (const [id, at] of readAt) {
        if (readAt.size <= max && at + minIntervalMs > now) break
        readAt.delete(id)
      }
      return taken
    },
    keep: (id, now) => put(id, now + minIntervalMs),
    size: () => due.size,
    dueAt: () => (due.size === 0 ? undefined : Math.min(...due.values())),
  }
}

interface HintedWork {
  /** Adds an id, and waits for room; `false` if it is stopped first. For one caller, who awaits it. */
  add(id: string, hint: Hint): Promise<boolean>
  /** Whether no id waits or is worked on; `false` once it is stopped, because it then takes no more ids. */
  isIdle(): boolean
  /** Takes no more ids from now on; resolves when running work has ended. */
  stop(): Promise<void>
}

export interface HintedWorkOptions {
  readonly times: HintTimes
  /** How many may wait or be worked on. */
  readonly max: number
  /** Works on an id; `later` means that it is due again. Must not throw. */
  readonly workOn: (id: string) => Promise<'done' | 'later'>
}

/** Works on one id after the other until it is stopped. Callers who add ids wait for room, so that nothing is lost in a burst. */
export function hintedWork({ times, max, workOn }: HintedWorkOptions): HintedWork {
  const hinted = hints(times, max)
  /** The number of ids that were taken, and may have to wait again. */
  let taken = 0
  let isStopped = false
  let rouse = (): void => undefined
  const working = rounds(async () => {
    const due = hinted.take(performance.now())
    taken = due.length
    for (const id of due) {
      const isDone = !isStopped && (await workOn(id)) === 'done'
      if (!isDone) hinted.keep(id, performance.now())
      taken -= 1
      rouse()
    }
    awaitNext()
  })
  function awaitNext(): void {
    const dueAt = hinted.dueAt()
    if (dueAt !== undefined) working.within(dueAt - performance.now())
  }
  return {
    async add(id, hint) {
      const isFull = () => !isStopped && hinted.size() + taken >= max
      while (isFull()) await new Promise<void>((resolve) => void (rouse = resolve))
      if (isStopped) return false
      hinted.add(id, hint, performance.now())
      awaitNext()
      return true
    },
    isIdle: () => !isStopped && taken === 0 && hinted.dueAt() === undefined,
    async stop() {
      isStopped = true
      rouse()
      await working.stop()
    },
  }
}
