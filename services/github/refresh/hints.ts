/** Collects hints that something may have changed, by id, until the readings that they cause are due. Times are in ms. */
import { rounds } from '#platform/async/rounds.ts'

/** How soon a hint causes a reading: `soon`, or only `now and then` for hints that come often or may be false. */
export type Hint = 'soon' | 'now and then'

export interface Hints {
  /** Adds a hint, or drops it if there is no room: the next reading of everything then covers its id. */
  add(id: string, hint: Hint, now: number): void
  /** Removes and returns the ids that are due; they count as read now. */
  take(now: number): readonly string[]
  /** Puts back an id that was not read: it is due again after `minIntervalMs`. Returns `false` if there is no room. */
  keep(id: string, now: number): boolean
  size(): number
  /** When the next id is due; `undefined` when none waits. */
  dueAt(): number | undefined
}

export interface HintTimes {
  /** The time between a hint and the reading that it causes, so that a burst of hints causes one reading. */
  readonly burstPauseMs: number
  /** The least time between two readings of an id that are caused by `now and then` hints, and the pause after a failed reading. */
  readonly minIntervalMs: number
}

/** Makes a collection of at most `max` ids to read again, each id once. */
export function hints({ burstPauseMs, minIntervalMs }: HintTimes, max: number): Hints {
  const due = new Map<string, number>()
  /** When each id was last read, in the order of these times. */
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
  /** Adds a hint after waiting for room; `false` if the work is stopped first. There must be only one caller, who awaits the result. */
  add(id: string, hint: Hint): Promise<boolean>
  /** Whether nothing waits and nothing is being worked on. `false` after it was stopped, because ids may then be left. */
  isIdle(): boolean
  /** Accepts no further ids. Resolves when the work under way has ended. */
  stop(): Promise<void>
}

export interface HintedWorkOptions {
  readonly times: HintTimes
  /** The most ids that may wait or be worked on. */
  readonly max: number
  /** The work on an id; `later`: the id is due again. Must not throw. */
  readonly workOn: (id: string) => Promise<'done' | 'later'>
}

/** Works on one id after the other until it is stopped. Adding waits for room, so that a burst loses nothing. */
export function hintedWork({ times, max, workOn }: HintedWorkOptions): HintedWork {
  const hinted = hints(times, max)
  /** How many ids were taken out of `hinted` and are not done yet. They may have to be put back. */
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
