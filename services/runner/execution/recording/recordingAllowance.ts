/** How much a run may record: of its own, and of its person's day of UTC, which is counted in the log for all runners and over restarts. */
import { randomUUID } from 'node:crypto'
import { usageStream } from '#domain/kernel/ids.ts'
import { usage } from '#domain/usage/usage.ts'
import type { Commands } from '#platform/commands/execute.ts'

export interface Allowance {
  /** How many bytes the run may record in all. It becomes less when the person's day is used up. */
  bytes(): number
  spend(bytes: number): void
  /** Why it may not record more, as the beginning of a sentence. */
  reason(): string
  /** Resolves once what was spent counts for all runners, or cannot be brought to them now. Never fails. */
  settled(): Promise<void>
}

export interface Allowances {
  /** What a run may record on a day that is not used up. */
  readonly runBytes: number
  ofRun(run: { readonly userId: string; readonly executionId: string }): Allowance
}

/** A run still records so much on a day that is used up: enough to see how it went. */
export const afterTheDay = 1_000_000
/** What several runs record at once may pass the day's limit by so much each. */
const meteredEach = 4_000_000
const actor = { kind: 'system', service: 'runner' } as const

export function openAllowances({
  runBytes,
  dayBytes,
  commands,
  now,
  patienceMs,
  onFault,
}: {
  readonly runBytes: number
  /** `null`: as much as one likes; nothing is counted then. */
  readonly dayBytes: number | null
  readonly commands: Pick<Commands, 'execute' | 'load'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly patienceMs: number
  readonly onFault: (fault: unknown) => void
}): Allowances {
  return {
    runBytes,
    ofRun({ userId, executionId }) {
      let ofDay = 0
      let untold = 0
      const stream = () => usageStream(userId, new Date(now()).toISOString().slice(0, 10))
      const isDayOver = () => dayBytes !== null && ofDay + untold >= dayBytes
      // A run begins without waiting for this, and learns of it before it has recorded much.
      let last =
        dayBytes === null
          ? Promise.resolve()
          : commands.load(usage, stream()).then(({ state }) => void (ofDay = state.outputBytes), onFault)
      const meter = async (): Promise<void> => {
        const bytes = untold
        if (bytes === 0) return
        const command = { type: 'MeterOutput', executionId, bytes } as const
        const cause = { actor, commandId: randomUUID(), patienceMs }
        const { state } = await commands.execute(usage, stream(), command, cause)
        ofDay = state.outputBytes
        untold -= bytes
      }
      let isTelling = false
      const tell = (): Promise<void> => {
        isTelling = true
        last = last.then(meter).then(undefined, onFault)
        return last.finally(() => (isTelling = false))
      }
      return {
        bytes: () => (isDayOver() ? Math.min(runBytes, afterTheDay) : runBytes),
        spend(bytes) {
          if (dayBytes === null) return
          untold += bytes
          if (untold >= meteredEach && !isTelling) void tell()
        },
        reason: () =>
          isDayOver()
            ? `This person has recorded as much today as a person may, ${inMegabytes(dayBytes ?? 0)}`
            : `This run has recorded as much as a run may, ${inMegabytes(runBytes)}`,
        settled: () => tell(),
      }
    },
  }
}

/** `64 MB`, `0.5 MB`. */
export function inMegabytes(bytes: number): string {
  const megabytes = bytes / 1e6
  return `${megabytes >= 10 ? Math.round(megabytes) : Number(megabytes.toFixed(1))} MB`
}
