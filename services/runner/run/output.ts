/** What a run prints, on its way into the terminal's stream: one recorder a channel, secrets taken out. */
import type { Fence } from '#domain/task/commands.ts'
import type { ExecutionKind } from '#domain/task/events.ts'
import { TerminalOutputRecorded, type OutputChannel } from '#domain/task/terminal.ts'
import { realTimers } from '../output/coalesce.ts'
import type { Redaction } from '../output/redaction.ts'
import { recordOutput, type OutputRecorder } from '../output/record.ts'
import type { TerminalWriter } from './terminalWriter.ts'

export interface RunOutput {
  readonly stdout: OutputRecorder
  readonly stderr: OutputRecorder
  /** Records what is left of both. */
  end(): Promise<void>
}

export function runOutput(
  terminal: TerminalWriter,
  { fence, kind, redaction }: { fence: Fence; kind: ExecutionKind; redaction: Redaction },
): RunOutput {
  const recorder = (channel: OutputChannel): OutputRecorder =>
    recordOutput({
      redaction,
      timers: realTimers,
      emit: (text) => terminal.append(TerminalOutputRecorded.of({ ...fence, kind, channel }, { text })),
    })
  const stdout = recorder('stdout')
  const stderr = recorder('stderr')
  return {
    stdout,
    stderr,
    async end() {
      await stdout.end()
      await stderr.end()
    },
  }
}
