/** Work on what was hinted at, one id after the other; whoever adds waits for room, so that nothing is lost in a burst. */
import { rounds } from '#platform/async/rounds.ts'
import { hints, type Hint, type HintTimes } from './hints.ts'

export interface HintedWork {
  /** Waits for room; `false` where it is stopped first. For one caller, who awaits it. */
  add(id: string, hint: Hint): Promise<boolean>
  /** Whether none waits and none is worked on; `false` once it is stopped, as it has then taken nothing more. */
  isIdle(): boolean
  /** Takes nothing more at once; resolves when what is under way has ended. */
  stop(): Promise<void>
}

export interface HintedWorkOptions {
  readonly times: HintTimes
  /** How many may wait or be worked on. */
  readonly max: number
  /** `later`: it is due again. Must not throw. */
  readonly workOn: (id: string) => Promise<'done' | 'later'>
}

/** Goes on until it is stopped. */
export function hintedWork({ times, max, workOn }: HintedWorkOptions): HintedWork {
  const hinted = hints(times, max)
  /** Those that were taken, and may have to wait again. */
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
