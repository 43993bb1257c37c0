/** Work on what was hinted at, one id after the other; whoever adds waits for room, so that nothing is lost in a burst. */
import { Fault } from '#domain/kernel/errors.ts'
import { rounds } from '#platform/async/rounds.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { hints, type Hint, type HintTimes } from './hints.ts'

export interface HintedWork {
  /** Waits for room; `false` where it is stopped first. For one caller, who awaits it. */
  add(id: string, hint: Hint): Promise<boolean>
  /** Whether none waits and none is worked on. */
  isIdle(): boolean
  /** Takes nothing more at once; resolves when what is under way has ended. */
  stop(): Promise<void>
}

export interface HintedWorkOptions {
  readonly times: HintTimes
  /** How many may wait or be worked on. */
  readonly most: number
  /** `later`: it is due again. Must not throw. */
  readonly workOn: (id: string) => Promise<'done' | 'later'>
  /** Called once all that were due were worked on. Must not throw. */
  readonly afterwards?: () => Promise<void>
}

/** Goes on until it is stopped. */
export function hintedWork({ times, most, workOn, afterwards }: HintedWorkOptions): HintedWork {
  const hinted = hints(times, most)
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
    await afterwards?.()
  })
  function awaitNext(): void {
    const dueAt = hinted.dueAt()
    if (dueAt !== undefined) working.within(dueAt - performance.now())
  }
  return {
    async add(id, hint) {
      const isFull = () => !isStopped && hinted.size() + taken >= most
      while (isFull()) await new Promise<void>((resolve) => void (rouse = resolve))
      if (isStopped) return false
      hinted.add(id, hint, performance.now())
      awaitNext()
      return true
    },
    isIdle: () => taken === 0 && hinted.dueAt() === undefined,
    async stop() {
      isStopped = true
      rouse()
      await working.stop()
    },
  }
}

/** Whether the same may succeed soon: an engine or the code host is away, or somebody else wrote meanwhile. */
export const isTransient = (fault: unknown): boolean =>
  fault instanceof EngineUnavailable ||
  (fault instanceof Fault && fault.code === 'conflict') ||
  (fault instanceof CodeHostFault && fault.isPassing)
