/** One execution while it runs: its fence, and the ways in which it reports. */
import type { Fence } from '#domain/task/commands.ts'
import type { ChangesReport } from './recording/changesReport.ts'
import type { RunOutput } from './recording/terminalOutput.ts'
import type { Reporter } from './recording/reporter.ts'
import type { Steering } from './steering.ts'
import type { Stopping } from './stopping.ts'
import type { TerminalWriter } from './recording/terminalWriter.ts'

export interface Run {
  readonly fence: Fence
  readonly stopping: Stopping
  readonly steering: Steering
  readonly reporter: Reporter
  readonly terminal: TerminalWriter
  readonly output: RunOutput
  readonly changes: ChangesReport
}
