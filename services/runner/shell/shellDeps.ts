/** The parts of the runner that people's shells need. */
import type { TerminalWriters } from '../execution/recording/terminalWriters.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { SandboxedProcess } from '../sandbox/port.ts'

export type ShellDeps = AgentDeps &
  WorkspaceDeps &
  Pick<RecordingDeps, 'allowances' | 'redaction' | 'runnerId'> & {
    /** Whether there are no other runners. */
    readonly isAlone: boolean
    readonly terminals: TerminalWriters
    /** The sandbox of a task's agent; `undefined` when there is none. */
    readonly sandboxOfAgent: (taskId: string) => SandboxedProcess | undefined
  }
