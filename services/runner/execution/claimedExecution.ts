/** Runs an execution that this runner has claimed: reads what it is about, makes its workspace ready, runs its turn or command, records its changes. */
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import type { ExecutionOutcome, Fence } from '#domain/task/commands.ts'
import type { AgentName } from '#domain/agents.ts'
import { countingAt } from '#domain/task/restorePoints.ts'
import type { Execution } from '#domain/task/phase.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { joinTranscripts, transcriptOf } from '#domain/task/transcript.ts'
import { chatView, messageDocumentId, type MessageDocument } from '#domain/views/chat.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import type { Head } from '#platform/eventlog/eventLog.ts'
import type { AgentImage } from '../agents/port.ts'
import type { RecordingDeps } from '../deps.ts'
import type { EarlySandbox } from '../prewarm/earlySandbox.ts'
import { imagesForAgent, withTranscript } from './turn/agentMessage.ts'
import { executionWorkspace, type ExecutionWorkspace } from './executionWorkspace.ts'
import { Evicted, failed, outcomeOfStop, type Failed } from './failure.ts'
import { ownSecrets, valuesOf } from './projectSecrets.ts'
import { changesReport } from './recording/changesReport.ts'
import type { Reporter } from './recording/reporter.ts'
import { recordSnapshot } from './recording/savedWork.ts'
import { runOutput } from './recording/terminalOutput.ts'
import type { TerminalWriter } from './recording/terminalWriter.ts'
import { treeGitFor } from './restore.ts'
import type { ExecutionDeps } from './run.ts'
import { tellOfRepository } from './repositoryNotes.ts'
import { runShellCommand, setUpWorkspace, type PreparedRun } from './sandboxCommand.ts'
import { sandboxEnvsOf } from './sandboxEnv.ts'
import type { Control, StopReason } from './control.ts'
import { runTurn } from './turn/turn.ts'

/** An execution that is ours to run. */
export interface Claimed {
  readonly task: LiveTask
  readonly execution: Execution
  readonly fence: Fence
  readonly head: Head
}

/** How a run is controlled and where it is recorded. */
export interface RunChannels {
  readonly control: Control
  readonly reporter: Reporter
  readonly terminal: TerminalWriter
}

/** What a run is about, as it was when the run was claimed. */
interface Subject {
  readonly document: TaskDocument
  readonly message: MessageDocument & { readonly message: string }
  readonly user: UserDocument
  readonly images: readonly AgentImage[]
}

export async function runClaimed(
  deps: ExecutionDeps,
  claimed: Claimed,
  channels: RunChannels,
): Promise<ExecutionOutcome> {
  const noSpace = deps.disk.refusal()
  if (noSpace !== undefined) return failed('disk_full', noSpace)
  const subject = await subjectOf(deps, claimed)
  if ('kind' in subject) return subject
  const { task, execution } = claimed
  const session = sessionOf(task, execution.agent)
  const { projectId } = subject.document
  const model = modelFor(subject.document, execution.agent)
  const early =
    execution.kind === 'turn' && task.pendingRestore === null
      ? deps.prewarm.earlySandbox({ projectId, agent: execution.agent, model, session })
      : undefined
  const { stop } = channels.control
  const unwatchDisk = deps.disk.watch({ taskId: task.taskId, stop })
  try {
    const { kind } = execution
    const begun = { ...claimed, ...channels, ...subject, kind, session, early, stop }
    const prepared = await executionWorkspace(deps, begun)
    const stopped = outcomeOfStop(stop)
    if (stopped) return stopped
    if (prepared.kind === 'failed') return prepared
    return await runInWorkspace(deps, claimed, channels, { ...subject, prepared, early })
  } finally {
    unwatchDisk()
    await early?.close()
  }
}

async function subjectOf(deps: RecordingDeps, { task, execution, head }: Claimed): Promise<Subject | Failed> {
  const stream = taskStream(task.taskId)
  const [document, message, user] = await Promise.all([
    deps.documents.asOf(tasksView, stream, task.taskId, head),
    deps.documents.asOf(chatView, stream, messageDocumentId(task.taskId, execution.messageId), head),
    userOf(deps, task.ownerId),
  ])
  if (!document || !user) throw new Evicted('The task is gone.')
  // A message may be blank, where it has images.
  if (typeof message?.message !== 'string')
    return failed('message_erased', 'The message of this turn was erased.')
  const images = await imagesForAgent(deps, task.taskId, message.images)
  if (!images) return failed('image_erased', 'An image of this message was erased or is damaged.')
  return { document, message: { ...message, message: message.message }, user, images }
}

interface PreparedSubject extends Subject {
  readonly prepared: ExecutionWorkspace
  readonly early: EarlySandbox | undefined
}

async function runInWorkspace(
  deps: ExecutionDeps,
  claimed: Claimed,
  { control: { stop, steering }, reporter, terminal }: RunChannels,
  subject: PreparedSubject,
): Promise<ExecutionOutcome> {
  const { task, execution, fence } = claimed
  const { workspace, access, settle } = subject.prepared
  const treeGit = treeGitFor(deps, workspace)
  const { executionId } = fence
  const { agent } = execution
  const { projectId } = task
  const envs = await sandboxEnvsOf(deps, { projectId, agent, workspace, repositoryUrl: access.url })
  const secrets = valuesOf([...envs.secrets, ...ownSecrets(deps, access)])
  const changes = changesReport(deps, { treeGit, workspace, executionId, secrets, reporter })
  const output = runOutput(terminal, { fence, kind: execution.kind, redaction: deps.redaction(secrets) })
  const run = { fence, stopping: stop, steering, reporter, terminal, output, changes }
  const stopHearing = deps.egress.hear(
    task.taskId,
    (line) => void output.stderr.write(`${line}\n`).catch(() => undefined),
  )
  const logged = (message: string, recording: Promise<void>) =>
    recording.catch((fault: unknown) => {
      if (fault instanceof Evicted) throw fault
      deps.logger.error({ err: fault }, message)
    })
  try {
    const ready = { run, workspace, envs, person: task.ownerId }
    await tellOfRepository(deps, ready)
    const unready = await setUpWorkspace(deps, ready)
    if (unready) return unready
    return await runMessage(deps, claimed, { ...subject, ...ready, secrets })
  } finally {
    stopHearing()
    await settle?.()
    await output.end()
    await changes.stop()
    // Neither failure fails the turn.
    if (!silent.has(stop.reason())) {
      const snapshot = { task, workspace, treeGit, agent, executionId, report: reporter.report }
      await Promise.all([
        logged('the changes could not be read', changes.record()),
        logged('the work could not be saved', recordSnapshot(deps, snapshot)),
      ])
    }
  }
}

/** Stop reasons after which a run may record nothing more. */
const silent = new Set<StopReason | undefined>(['evicted', 'deleted', 'unrecordable'])

/** Runs the message as a command or as a turn of the agent. */
async function runMessage(
  deps: ExecutionDeps,
  { task, execution }: Claimed,
  ready: PreparedSubject & PreparedRun & { readonly secrets: readonly string[] },
): Promise<ExecutionOutcome> {
  const { run, workspace, envs, document, message, prepared } = ready
  const { session } = prepared
  const { agent, messageId } = execution
  if (execution.kind === 'command') {
    const sandboxEnv = message.withSecrets ? envs.withSecrets : envs.forCommands
    return runShellCommand(deps, { run, workspace, messageId, command: message.message, sandboxEnv })
  }
  const before = session === null ? await conversationBefore(deps, task, message) : ''
  return runTurn(deps, {
    ...ready,
    agent,
    session,
    message: withTranscript(message.message, before),
    model: modelFor(document, agent),
    sandboxEnv: envs.forAgent,
    ownerId: document.owner,
  })
}

/**
 * The conversation before this message as text: the transcript of the turn that the task was created from, then the latest hundred messages,
 * without those of turns that were undone.
 */
async function conversationBefore(
  { documents }: RecordingDeps,
  { origin, restorePoints: { points, at } }: LiveTask,
  { task, order }: MessageDocument,
): Promise<string> {
  const found = await documents.find(chatView, {
    where: { task },
    sort: { field: 'order', direction: 'descending' },
    limit: 100,
    after: { value: order, id: '' },
  })
  const counting = new Set(countingAt(points, at).map(({ executionId }) => executionId))
  const known = new Set(points.map(({ executionId }) => executionId))
  const isUndone = ({ executionId }: MessageDocument) =>
    executionId !== null && known.has(executionId) && !counting.has(executionId)
  const said = found.filter((message) => !isUndone(message)).reverse()
  return joinTranscripts(origin?.transcript ?? '', transcriptOf(said))
}

/** A model that was chosen for one agent means nothing to another. */
function modelFor(document: TaskDocument, agent: AgentName): string | null {
  return document.modelAgent === agent ? document.codexModel : null
}

function sessionOf({ session }: LiveTask, agent: AgentName): string | null {
  return session?.agent === agent ? session.sessionId : null
}

async function userOf({ documents, log }: RecordingDeps, userId: string) {
  const stream = userStream(userId)
  return documents.asOf(usersView, stream, userId, await log.headOf(stream))
}
