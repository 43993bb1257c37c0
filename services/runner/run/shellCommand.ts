/** A person's shell command, run in the task's box. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import type { RunnerParts } from '../parts.ts'
import { runInBox, type BoxedCommand } from './inBox.ts'
import { timeInWords } from './limits.ts'
import { failed } from './failed.ts'

export async function runShellCommand(
  parts: RunnerParts,
  command: Omit<BoxedCommand, 'longestMs'>,
): Promise<ExecutionOutcome> {
  const { longestMs } = parts.limits
  const ran = await runInBox(parts, { ...command, longestMs })
  if (ran.kind !== 'ended') return ran
  const { exit } = ran
  if (exit.reason === 'time_limit')
    return failed('time_limit', `The command was stopped after ${timeInWords(longestMs)}.`)
  if (exit.reason === 'memory_limit')
    return failed('memory_limit', 'The command used more memory than it may.')
  return { kind: 'completed', exitCode: exit.code ?? 1 }
}
