/**
 * What a person used of models on a day of UTC. It is in the log, so that it holds over restarts and over all runners, and is read from
 * there each time it is asked for.
 */
import { randomUUID } from 'node:crypto'
import { usageStream } from '#domain/kernel/streams.ts'
import { type MeteredUse, usage, type UsageState, type UseOfModel } from '#domain/usage.ts'
import type { Commands } from '#platform/commands/execute.ts'

export interface DailyUsage {
  /** `2026-01-31`. */
  readonly day: string
  /** Notes what was used, and records it in the log in the background. */
  enter(use: MeteredUse): void
  /** What was used, by whichever runner. Never fails: while the log is away, this is what was last read, with what could not be recorded yet. */
  uses(): Promise<readonly UseOfModel[]>
  /** Resolves once what was noted is in the log, or cannot be recorded now: it is tried again with the next. Never fails. */
  settled(): Promise<void>
}

export interface DayBookOptions {
  readonly commands: Pick<Commands, 'execute' | 'load'>
  /** How long recording waits for a log that is away. */
  readonly patienceMs: number
  /** Told when the log could not be read or written. */
  readonly onFault: (fault: unknown) => void
}

const actor = { kind: 'system', service: 'runner' } as const

export function openDayBook(
  { commands, patienceMs, onFault }: DayBookOptions,
  userId: string,
  day: string,
): DailyUsage {
  const stream = usageStream(userId, day)
  let recorded: UsageState = usage.initial
  /** Not in the log yet. */
  let waiting: readonly MeteredUse[] = []
  // One step after another, so that no use is both in the log that was read and among what waits.
  let last: Promise<unknown> = Promise.resolve()
  const serialized = (step: () => Promise<void>): Promise<void> => {
    const done = last.then(step).catch(onFault)
    last = done
    return done
  }

  async function record(): Promise<void> {
    const uses = waiting
    if (uses.length === 0) return
    const cause = { actor, commandId: randomUUID(), patienceMs }
    const { state } = await commands.execute(usage, stream, { type: 'MeterModelUse', uses }, cause)
    recorded = state
    waiting = waiting.slice(uses.length)
  }
  async function read(): Promise<void> {
    recorded = (await commands.load(usage, stream)).state
  }

  return {
    day,
    enter(use) {
      waiting = [...waiting, use]
      void serialized(record)
    },
    async uses() {
      void serialized(record)
      let uses: readonly UseOfModel[] = []
      await serialized(() => read().finally(() => (uses = [...recorded.models.values(), ...waiting])))
      return uses
    },
    settled: () => serialized(record),
  }
}
