/** An execution from its job to its end: claimed, run, its end told. */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/ids.ts'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { MessagePosted } from '#domain/task/events.ts'
import type { Execution, LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { TerminalOutputRecorded } from '#domain/task/terminal.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { EngineUnavailable, TooLarge } from '#platform/ports/faults.ts'
import type { RunnerDeps } from '../deps.ts'
import { failed } from './failed.ts'
import { outcomeOf, type Claimed } from './outcome.ts'
import { recordingWithin } from './recording/boundedRecording.ts'
import { reporter as openReporter, type Reporter } from './recording/reporter.ts'
import { outcomeOfStop, type Control } from './stopping.ts'
import { Evicted, terminalWriter } from './recording/terminalWriter.ts'

const actor = { kind: 'system', service: 'runner' } as const

/** Runs an execution that was requested. Resolves when it has ended, or when it is no longer ours to report. */
export async function runExecution(
  deps: RunnerDeps,
  job: { readonly taskId: string; readonly executionId: string },
  control: Control,
): Promise<void> {
  const onFound = ({ kind }: Execution): void => {
    if (kind === 'turn') deps.warm.wake(job.taskId)
  }
  try {
    const claimed = await claim(deps, job, onFound)
    if (claimed) await runClaimed(deps, claimed, control)
  } catch (fault) {
    if (!(fault instanceof Evicted)) throw fault
    deps.logger.info({ ...job }, 'run abandoned: another runner has it')
  } finally {
    // A turn that failed before it began left it awake.
    await deps.warm.rest(job.taskId)
  }
}

/** `undefined` when there is nothing to run: ended, withdrawn, or left behind by a runner that died, which is told here. */
async function claim(
  deps: RunnerDeps,
  { taskId, executionId }: { readonly taskId: string; readonly executionId: string },
  onFound: (execution: Execution) => void,
): Promise<Claimed | undefined> {
  const stream = taskStream(taskId)
  const { state, head } = await deps.commands.load(decider, stream)
  const execution = executionOf(state, executionId)
  if (!execution) return undefined
  const attempt = execution.attempt
  if (attempt > 0) {
    await endLost(deps, taskId, execution, head.revision)
    return undefined
  }
  onFound(execution)
  const command = {
    type: 'StartExecution',
    executionId,
    afterAttempt: attempt,
    runnerId: deps.runnerId,
  } as const
  const started = await deps.commands
    .execute(decider, stream, command, { actor, commandId: randomUUID() })
    .catch((fault: unknown) => {
      if (fault instanceof Fault && (fault.code === 'evicted' || fault.code === 'not_found')) return undefined
      throw fault
    })
  const running = started && executionOf(started.state, executionId)
  if (!started || started.state.kind !== 'task' || !running) return undefined
  const fence = { executionId, attempt: running.attempt }
  return { task: started.state, execution: running, fence, head: started.head }
}

/** Ends an execution whose runner is gone. It may only stand still: the line in the terminal shuts out what it would still print. */
async function endLost(
  deps: RunnerDeps,
  taskId: string,
  execution: Execution,
  revision: number,
): Promise<void> {
  const { executionId, attempt, kind } = execution
  const reason = 'The runner stopped while this was running. Try again to continue where it left off.'
  const terminal = await terminalWriter(deps, taskId, revision)
  const told = { executionId, attempt, kind, channel: 'stderr' } as const
  await terminal.append(TerminalOutputRecorded.of(told, { text: `${reason}\n` }))
  const report = openReporter(deps.commands, taskId, { executionId, attempt })
  await endWith(report, execution, failed('runner_lost', reason), terminal.head())
}

function executionOf(state: { kind: string } | LiveTask, executionId: string): Execution | undefined {
  if (!('phase' in state) || !('execution' in state.phase)) return undefined
  return state.phase.execution.executionId === executionId ? state.phase.execution : undefined
}

async function runClaimed(deps: RunnerDeps, claimed: Claimed, control: Control): Promise<void> {
  const { task, execution, fence } = claimed
  const report = openReporter(deps.commands, task.taskId, fence)
  const terminal = await terminalWriter(deps, task.taskId, claimed.head.revision)
  const allowance = deps.allowances.ofRun({ userId: task.ownerId, executionId: fence.executionId })
  const recording = recordingWithin(allowance, { terminal, report }, { fence, kind: execution.kind })
  let outcome: ExecutionOutcome
  try {
    outcome = await outcomeOf(deps, claimed, {
      control,
      report: recording.report,
      terminal: recording.terminal,
    })
  } catch (fault) {
    if (fault instanceof Evicted) throw fault
    outcome = outcomeOfStop(control.stop) ?? outcomeOfFault(deps, fault)
  }
  await recording.close().catch((fault: unknown) => {
    if (fault instanceof Evicted) throw fault
    deps.logger.error({ err: fault }, 'failed to record the last output')
  })
  await Promise.all([endWith(report, execution, outcome, terminal.head()), allowance.settled()])
}

/** Ends the execution; what went wrong is also said in the chat, where the person looks. */
async function endWith(
  report: Reporter,
  { executionId, agent, kind }: Execution,
  outcome: ExecutionOutcome,
  terminal: { revision: number; hash: string } | null,
): Promise<void> {
  if (outcome.kind === 'failed' && kind === 'turn') {
    const data = { messageId: randomUUID(), messageType: 'error', agent, executionId } as const
    await report.report(MessagePosted.of(data, { message: outcome.reason }))
  }
  await report.end(outcome, terminal)
}

function outcomeOfFault(deps: RunnerDeps, fault: unknown): ExecutionOutcome {
  if (fault instanceof Fault) return failed(fault.code, fault.message)
  if (fault instanceof CodeHostFault) return failed('code_host', fault.message)
  if (fault instanceof EngineUnavailable)
    return failed('engine_unavailable', 'Part of the server did not respond in time. Try again.')
  if (fault instanceof TooLarge)
    return failed(
      'too_large',
      'The agent produced more output at once than can be recorded. Ask it to work in smaller steps.',
    )
  deps.logger.error({ err: fault }, 'run failed')
  return failed('internal', 'Something went wrong during this run. The error has been logged.')
}
