/** What the shells of people need of the runner. */
import type { TerminalWriters } from '../execution/recording/terminalWriters.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { SandboxedProcess } from '../sandbox/port.ts'

export type ShellDeps = AgentDeps &
  WorkspaceDeps &
  Pick<RecordingDeps, 'allowances' | 'redaction'> & {
    readonly terminals: TerminalWriters
    /** The sandbox in which a task's agent is. */
    readonly sandboxOfAgent: (taskId: string) => SandboxedProcess | undefined
  }
