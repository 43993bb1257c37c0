/** A person's shell command, run in the task's box. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import type { RunnerParts } from '../parts.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { commandLimits, timeInWords } from './limits.ts'
import { failed } from './prepare.ts'
import type { Run } from './run.ts'
import { outcomeOfStop } from './stopping.ts'
import { drain } from './turn.ts'

const interruptMs = 5_000

export async function runShellCommand(
  parts: RunnerParts,
  { run, workspace, command }: { run: Run; workspace: Workspace; command: string },
): Promise<ExecutionOutcome> {
  const { sandbox } = parts
  if ('missing' in sandbox) return failed('no_box', sandbox.missing)
  // Bold, as the commands of an agent are.
  await run.output.stdout.write(`\u001B[1m$ ${command}\u001B[0m\n`)
  const child = sandbox.run({
    command: ['/bin/bash', '-c', command],
    env: { TERM: 'xterm-256color' },
    workspace,
    readOnly: [],
    sockets: [],
    stdin: 'ignore',
    limits: commandLimits(parts.limits),
  })
  const onStop = () => {
    if (run.stopping.reason() === 'cancelled') child.interrupt()
    setTimeout(() => child.kill(), run.stopping.reason() === 'cancelled' ? interruptMs : 0).unref()
  }
  if (run.stopping.signal.aborted) onStop()
  else run.stopping.signal.addEventListener('abort', onStop, { once: true })
  try {
    await Promise.all([
      drain(child.stdout, (chunk) => run.output.stdout.write(chunk)),
      drain(child.stderr, (chunk) => run.output.stderr.write(chunk)),
    ])
    const exit = await child.exited
    const stopped = outcomeOfStop(run.stopping)
    if (stopped) return stopped
    if (exit.reason === 'time_limit')
      return failed('time_limit', `The command was stopped after ${timeInWords(parts.limits.longestMs)}.`)
    if (exit.reason === 'memory_limit')
      return failed('memory_limit', 'The command used more memory than it may.')
    return { kind: 'completed', exitCode: exit.code ?? 1 }
  } finally {
    run.stopping.signal.removeEventListener('abort', onStop)
    child.kill()
    await child.exited
  }
}
