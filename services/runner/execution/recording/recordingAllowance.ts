/**
 * How much a run may record: limited for each run, and for each person and UTC day. The recorded bytes of a day are counted in the log, so the limit
 * holds across runners and restarts.
 */
import { randomUUID } from 'node:crypto'
import { usageStream } from '#domain/kernel/streams.ts'
import { usage } from '#domain/usage.ts'
import type { Commands } from '#platform/commands/execute.ts'

export interface RecordingAllowance {
  /** How many bytes the run may record in all. The number shrinks when the person's limit for the day is reached. */
  bytes(): number
  spend(bytes: number): void
  /** Why the run may not record more: a sentence without its full stop. */
  reason(): string
  /** Resolves when the usage is in the log, or cannot be recorded now. Never rejects. */
  settled(): Promise<void>
}

export interface RecordingAllowances {
  /** The bytes that a run may record while the person's limit for the day is not reached. */
  readonly runBytes: number
  ofRun(run: { readonly userId: string; readonly executionId: string }): RecordingAllowance
}

/** The bytes that a run may record in all once the person's limit for the day is reached: enough to see how the run went. */
export const afterTheDay = 1_000_000
/** Usage is recorded in steps of about this many bytes. So each running run may exceed the limit of the day by about one step. */
const meteredEach = 4_000_000
const actor = { kind: 'system', service: 'runner' } as const

export function openRecordingAllowances({
  runBytes,
  dayBytes,
  commands,
  now,
  patienceMs,
  onFault,
}: {
  readonly runBytes: number
  /** The limit of a day; `null`: unlimited, and nothing is counted. */
  readonly dayBytes: number | null
  readonly commands: Pick<Commands, 'execute' | 'load'>
  /** Returns milliseconds since 1970. */
  readonly now: () => number
  readonly patienceMs: number
  readonly onFault: (fault: unknown) => void
}): RecordingAllowances {
  return {
    runBytes,
    ofRun({ userId, executionId }) {
      let ofDay = 0
      let unmetered = 0
      const stream = () => usageStream(userId, new Date(now()).toISOString().slice(0, 10))
      const isDayOver = () => dayBytes !== null && ofDay + unmetered >= dayBytes
      // The run does not wait until the day's usage was read: that usage is known before the run has recorded much.
      let last =
        dayBytes === null
          ? Promise.resolve()
          : commands.load(usage, stream()).then(({ state }) => void (ofDay = state.outputBytes), onFault)
      const meter = async (): Promise<void> => {
        const bytes = unmetered
        if (bytes === 0) return
        const command = { type: 'MeterOutput', executionId, bytes } as const
        const cause = { actor, commandId: randomUUID(), patienceMs }
        const { state } = await commands.execute(usage, stream(), command, cause)
        ofDay = state.outputBytes
        unmetered -= bytes
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
          unmetered += bytes
          if (unmetered >= meteredEach && !isTelling) void tell()
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

/** Bytes in megabytes, such as `64 MB` or `0.5 MB`. */
export function inMegabytes(bytes: number): string {
  const megabytes = bytes / 1e6
  return `${megabytes >= 10 ? Math.round(megabytes) : Number(megabytes.toFixed(1))} MB`
}
