/** Runs an execution from its job to its end: claims it, runs it, and records its outcome. */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { MessagePosted } from '#domain/task/events.ts'
import type { Execution } from '#domain/task/phase.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import type { RecordingDeps } from '../deps.ts'
import { runClaimed } from './claimedExecution.ts'
import { Evicted, failed, outcomeOfFault, outcomeOfStop } from './failure.ts'
import { boundedRecording } from './recording/boundedRecording.ts'
import { reporter as openReporter, type Reporter } from './recording/reporter.ts'
import { recordingPatienceMs, terminalWriter, type TerminalWriter } from './recording/terminalWriter.ts'
import type { ExecutionDeps } from './runTypes.ts'
import type { Control } from './control.ts'
import type { Claimed } from './runInput.ts'

const actor = { kind: 'system', service: 'runner' } as const

/**
 * Runs a requested execution. Resolves when it has ended, or when this runner may no longer report about it. Rejects when its end cannot be recorded,
 * or when the server stops before it has begun.
 */
export async function runExecution(
  deps: ExecutionDeps,
  job: { readonly taskId: string; readonly executionId: string },
  control: Control,
): Promise<void> {
  const onFound = ({ kind }: Execution): void => {
    if (kind === 'turn') deps.prewarm.agents.thaw(job.taskId)
  }
  if (control.stop.reason() === 'stopping')
    throw new Evicted('This server stops: the run is left to the next delivery of its job.')
  try {
    const claimed = await claim(deps, job, onFound)
    if (claimed) await runAndRecord(deps, claimed, control)
  } catch (fault) {
    // If the record is damaged, the job is given back. After a repair, a later attempt records the end of the run.
    if (!(fault instanceof Evicted) || control.stop.reason() === 'unrecordable') throw fault
    deps.logger.info({ ...job }, 'run abandoned: another runner has it')
  } finally {
    // Freezes the agent, which `onFound` has thawed, even after a turn that failed before it began.
    await deps.prewarm.agents.freeze(job.taskId)
  }
}

/**
 * Claims the execution by recording its start. `undefined` when there is nothing to run: the execution has ended, was withdrawn, was claimed by
 * another runner, or was begun by a runner that died. In the last case its end is recorded here.
 */
async function claim(
  deps: RecordingDeps,
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
    .execute(decider, stream, command, { actor, commandId: randomUUID(), patienceMs: recordingPatienceMs })
    .catch((fault: unknown) => {
      if (fault instanceof Fault && (fault.code === 'evicted' || fault.code === 'not_found')) return undefined
      throw fault
    })
  const running = started && executionOf(started.state, executionId)
  if (!started || started.state.kind !== 'task' || !running) return undefined
  const fence = { executionId, attempt: running.attempt }
  return { task: started.state, execution: running, fence, head: started.head }
}

/**
 * Ends an execution whose runner is gone. In case that runner was merely suspended, the line that is added to the terminal here makes all its later
 * appends fail.
 */
async function endLost(
  deps: RecordingDeps,
  taskId: string,
  execution: Execution,
  revision: number,
): Promise<void> {
  const { executionId, attempt, kind } = execution
  const reason = 'The runner stopped while this was running. Try again to continue where it left off.'
  const terminal = await terminalWriter(deps, taskId, revision)
  const data = { executionId, attempt, kind, channel: 'stderr' } as const
  await terminal.append(TerminalOutputRecorded.of(data, { text: `${reason}\n` }))
  const report = openReporter(deps.commands, taskId, { executionId, attempt })
  await endWith(report, execution, failed('runner_lost', reason), terminal.head())
}

function executionOf(state: { kind: string } | LiveTask, executionId: string): Execution | undefined {
  if (!('phase' in state) || !('execution' in state.phase)) return undefined
  return state.phase.execution.executionId === executionId ? state.phase.execution : undefined
}

async function runAndRecord(deps: ExecutionDeps, claimed: Claimed, control: Control): Promise<void> {
  const { task, fence } = claimed
  const reporter = openReporter(deps.commands, task.taskId, fence)
  const terminal = await terminalWriter(deps, task.taskId, claimed.head.revision)
  const release = deps.terminals.register(task.taskId, terminal)
  try {
    await recordRun(deps, claimed, control, { reporter, terminal })
  } finally {
    release()
  }
}

async function recordRun(
  deps: ExecutionDeps,
  claimed: Claimed,
  control: Control,
  { reporter, terminal }: { readonly reporter: Reporter; readonly terminal: TerminalWriter },
): Promise<void> {
  const { task, execution, fence } = claimed
  const allowance = deps.allowances.ofRun({ userId: task.ownerId, executionId: fence.executionId })
  const recording = boundedRecording(allowance, { terminal, reporter }, { fence, kind: execution.kind })
  let outcome: ExecutionOutcome
  try {
    outcome = await runClaimed(deps, claimed, {
      control,
      reporter: recording.reporter,
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
  const opensDraft = await wantsDraft(deps, claimed, outcome)
  await Promise.all([endWith(reporter, execution, outcome, terminal.head(), opensDraft), allowance.settled()])
}

/** Whether the project wants a draft pull request for this turn's work. If finding this out fails, the turn does not fail. */
async function wantsDraft(
  { commands, logger }: Pick<ExecutionDeps, 'commands' | 'logger'>,
  { task, execution }: Claimed,
  outcome: ExecutionOutcome,
): Promise<boolean> {
  if (execution.kind !== 'turn' || outcome.kind !== 'completed' || task.pullRequest !== null) return false
  try {
    const { state } = await commands.load(projectDecider, projectStream(task.projectId))
    return state.kind === 'project' && state.settings.draftPullRequests
  } catch (fault) {
    logger.error({ err: fault, taskId: task.taskId }, 'the settings of a project could not be read')
    return false
  }
}

/** Ends the execution. The failure of a turn is also reported in the chat, where the person sees it, and only once. */
async function endWith(
  reporter: Reporter,
  { executionId, agent, kind }: Execution,
  outcome: ExecutionOutcome,
  terminal: { revision: number; hash: string } | null,
  opensDraft = false,
): Promise<void> {
  const data = { messageId: randomUUID(), messageType: 'error', agent, executionId } as const
  const message =
    outcome.kind === 'failed' && kind === 'turn' ? MessagePosted.of(data, { message: outcome.reason }) : null
  await reporter.end(outcome, terminal, { opensDraft, message })
}
