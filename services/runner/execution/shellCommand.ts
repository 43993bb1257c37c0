/** A person's shell command, run in the task's box. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { CommandOutputRecorded } from '#domain/task/events.ts'
import type { RunnerDeps } from '../deps.ts'
import { runInBox, type BoxedCommand } from './sandboxCommand.ts'
import { timeInWords } from './runLimits.ts'
import { failed } from './failed.ts'

export async function runShellCommand(
  deps: RunnerDeps,
  { messageId, ...command }: Omit<BoxedCommand, 'longestMs'> & { readonly messageId: string },
): Promise<ExecutionOutcome> {
  const { longestMs } = deps.limits
  const { fence, output, reporter } = command.run
  const last = output.keepLast()
  const ran = await runInBox(deps, { ...command, longestMs })
  const printed = last()
  if (printed !== '') {
    const { executionId } = fence
    await reporter.report(CommandOutputRecorded.of({ executionId, messageId }, { output: printed }))
  }
  if (ran.kind !== 'ended') return ran
  const { exit } = ran
  if (exit.reason === 'time_limit')
    return failed('time_limit', `The command was stopped after ${timeInWords(longestMs)}.`)
  if (exit.reason === 'memory_limit')
    return failed('memory_limit', 'The command used more memory than a run is allowed.')
  return { kind: 'completed', exitCode: exit.code ?? 1 }
}
