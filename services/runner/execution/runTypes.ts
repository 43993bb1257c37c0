/** One execution while it runs, and the dependencies of executions. */
import type { Fence } from '#domain/task/commands.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { Prewarm } from '../prewarm/prewarm.ts'
import type { ChangesReport } from './recording/changesReport.ts'
import type { Reporter } from './recording/reporter.ts'
import type { RunOutput } from './recording/terminalOutput.ts'
import type { TerminalWriter } from './recording/terminalWriter.ts'
import type { TerminalWriters } from './recording/terminalWriters.ts'
import type { Control, DeliveryQueue, Stopping } from './control.ts'

/** The dependencies of an execution: those of `deps.ts`, prewarming, and the writers of terminals. */
export interface ExecutionDeps extends RecordingDeps, WorkspaceDeps, AgentDeps {
  /** Whether there are no other runners. */
  readonly isAlone: boolean
  readonly prewarm: Prewarm
  readonly terminals: TerminalWriters
  /** Ends the shell and the waiting agent of a task. Nothing of them is left when this resolves. */
  readonly endSandboxes: (taskId: string) => Promise<void>
}

export interface Run {
  readonly fence: Fence
  readonly stopping: Stopping
  readonly steering: DeliveryQueue
  readonly answers: DeliveryQueue
  readonly waits: Control['waits']
  readonly reporter: Reporter
  readonly terminal: TerminalWriter
  readonly output: RunOutput
  readonly changes: ChangesReport
}
