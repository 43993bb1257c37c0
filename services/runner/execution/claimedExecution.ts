/** Runs an execution that this runner has claimed: reads its message, prepares its workspace, runs its turn or command, and records its changes. */
import { labelOf } from '#domain/agents.ts'
import { modeFor } from '#domain/agents/capabilities.ts'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { setUpWorkspace, type SetUp } from '../environment/setUpWorkspace.ts'
import { markTouched } from '../workspace/workspace.ts'
import { withTranscript } from './turn/agentMessage.ts'
import { executionWorkspace, type ExecutionWorkspace } from './executionWorkspace.ts'
import { Evicted, failed, outcomeOfStop } from './failure.ts'
import { ownSecrets, valuesOf } from './taskSecrets.ts'
import { keepArtifacts } from './recording/artifacts.ts'
import { changesReport } from './recording/changesReport.ts'
import type { Reporter } from './recording/reporter.ts'
import { runOutput } from './recording/terminalOutput.ts'
import type { TerminalWriter } from './recording/terminalWriter.ts'
import type { ExecutionDeps } from './runTypes.ts'
import { tellOfRepository } from './repositoryNotes.ts'
import {
  conversationBefore,
  modelUseFor,
  sessionOf,
  runInputOf,
  type Claimed,
  type RunInput,
} from './runInput.ts'
import { runShellCommand, type PreparedRun } from './sandboxCommand.ts'
import { sandboxEnvsOf } from './sandboxEnv.ts'
import type { Control, StopReason } from './control.ts'
import { allowedRules, lateAnswers } from './turn/agentQuestions.ts'
import { startsPrograms } from './turn/agentSetup.ts'
import { runTurn, type TurnRequest } from './turn/turn.ts'

/** The control of a run, and the streams to which it is recorded. */
export interface RunChannels {
  readonly control: Control
  readonly reporter: Reporter
  readonly terminal: TerminalWriter
}

export async function runClaimed(
  deps: ExecutionDeps,
  claimed: Claimed,
  channels: RunChannels,
): Promise<ExecutionOutcome> {
  const noSpace = deps.disk.refusal()
  if (noSpace !== undefined) return failed('disk_full', noSpace)
  const input = await runInputOf(deps, claimed)
  if ('kind' in input) return input
  const { task, execution } = claimed
  const session = sessionOf(task, execution.agent)
  const { projectId, owner: ownerId } = input.document
  const { model } = modelUseFor(input.document, execution.agent)
  const early =
    execution.kind === 'turn' && task.pendingRestore === null
      ? deps.prewarm.earlySandbox({ ownerId, projectId, agent: execution.agent, model, session })
      : undefined
  const { stop } = channels.control
  const unwatchDisk = deps.disk.watch({ taskId: task.taskId, stop })
  try {
    const { kind } = execution
    const begun = { ...claimed, ...channels, ...input, kind, session, early, stop }
    const prepared = await executionWorkspace(deps, begun)
    const stopped = outcomeOfStop(stop)
    if (stopped) return stopped
    if (prepared.kind === 'failed') return prepared
    return await runInWorkspace(deps, claimed, channels, { ...input, prepared, early })
  } finally {
    unwatchDisk()
    await early?.close()
  }
}

interface PreparedInput extends RunInput {
  readonly prepared: ExecutionWorkspace
  readonly early: ReturnType<ExecutionDeps['prewarm']['earlySandbox']>
}

async function runInWorkspace(
  deps: ExecutionDeps,
  claimed: Claimed,
  { control: { stop, steering, answers, waits }, reporter, terminal }: RunChannels,
  input: PreparedInput,
): Promise<ExecutionOutcome> {
  const begunAt = Date.now()
  const { task, execution, fence } = claimed
  const { workspace, access, settle, recorded } = input.prepared
  const treeGit = deps.treeGitFor(workspace)
  const { executionId } = fence
  const { agent } = execution
  const { projectId } = task
  const envs = await sandboxEnvsOf(deps, { projectId, agent, workspace, repositoryUrl: access.url })
  const secrets = valuesOf([...envs.secrets, ...(await ownSecrets(deps, access, task))])
  const changes = changesReport(deps, { treeGit, workspace, executionId, secrets, reporter })
  const output = runOutput(terminal, { fence, kind: execution.kind, redaction: deps.redaction(secrets) })
  const run = { fence, stopping: stop, steering, answers, waits, reporter, terminal, output, changes }
  const stopReporting = deps.egress.onRefusalOf(
    task.taskId,
    (line) => void output.stderr.write(`${line}\n`).catch(() => undefined),
  )
  const logged = (message: string, recording: Promise<void>) =>
    recording.catch((fault: unknown) => {
      if (fault instanceof Evicted) throw fault
      deps.logger.error({ err: fault }, message)
    })
  let settled: Promise<unknown> | undefined
  try {
    const prepared = { run, workspace, envs, person: task.ownerId }
    await tellOfRepository(deps, prepared)
    const setUp = await setUpWorkspace(deps, { ...prepared, projectId, isOfBase: input.prepared.isOfBase })
    if ('kind' in setUp) return setUp
    const ready = recordedAndReady(recorded, setUp.ready).then((unready) => {
      if (!unready) markTouched(workspace)
      return unready
    })
    settled = ready.catch(() => undefined)
    return await runMessage(deps, claimed, { ...input, ...prepared, secrets, ready })
  } finally {
    stopReporting()
    await settled
    await settle?.()
    // A run fails if the rest of its output cannot be recorded, but its work is saved.
    await output.end().finally(async () => {
      await changes.stop()
      if (silent.has(stop.reason())) return
      // The run does not fail if its changes, its snapshot or its artifacts cannot be recorded.
      const ended = { task, workspace, agent, executionId, report: reporter.report }
      const left = { ...ended, treeDir: workspace.dir, begunAt, redaction: changes.redaction() }
      await Promise.all([
        logged('the changes could not be read', changes.record()),
        logged('the work could not be saved', deps.snapshots.record(ended)),
        ...(execution.kind === 'turn'
          ? [logged('the artifacts could not be kept', keepArtifacts(deps, left))]
          : []),
      ])
    })
  }
}

/**
 * What the setup of a workspace comes to, once the workspace is also recorded as prepared. If the record is refused, this rejects only when the
 * workspace is no longer being filled, since it may be removed when the run has ended.
 */
export function recordedAndReady(recorded: Promise<void>, ready: Promise<SetUp>): Promise<SetUp> {
  return ready.finally(() => recorded)
}

/** Reasons for stopping after which a run may record nothing more. */
const silent = new Set<StopReason | undefined>(['evicted', 'deleted', 'unrecordable'])

/** Runs the message as a command or as a turn of the agent. */
async function runMessage(
  deps: ExecutionDeps,
  { task, execution }: Claimed,
  request: PreparedInput & PreparedRun & Pick<TurnRequest, 'secrets' | 'ready'>,
): Promise<ExecutionOutcome> {
  const { run, workspace, envs, document, message, prepared } = request
  const { session } = prepared
  const { agent, messageId } = execution
  if (execution.kind === 'command' || startsPrograms({ ...envs, sandboxEnv: envs.forAgent })) {
    const unready = await request.ready
    if (unready) return unready
  }
  if (execution.kind === 'command') {
    const sandboxEnv = message.withSecrets ? envs.withSecrets : envs.forCommands
    return runShellCommand(deps, { run, workspace, messageId, command: message.message, sandboxEnv })
  }
  const mode = modeFor(agent, task.questions.mode)
  if (mode === undefined) {
    const sentence = `${labelOf(agent)} cannot ask before it acts. Choose "Work freely" or another agent.`
    return failed('no_agent', sentence)
  }
  const late = await lateAnswers(deps, task)
  const words = [late.words, message.message].filter((text) => text !== '').join('\n\n')
  const messageWithConversation = async () =>
    withTranscript(words, await conversationBefore(deps, task, message))
  return runTurn(deps, {
    ...request,
    agent,
    session,
    message: session === null ? await messageWithConversation() : words,
    messageWithConversation,
    lateAnswers: late.questionIds,
    mode,
    allowedRules: await allowedRules(deps, task),
    ...modelUseFor(document, agent),
    sandboxEnv: envs.forAgent,
    allowedHooks: envs.allowedHooks,
    ownerId: document.owner,
    projectId: document.projectId,
  })
}
