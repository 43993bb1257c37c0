/** What a claimed execution comes to: what it is about read, its workspace ready, its turn or command run, its changes recorded. */
import { taskStream, userStream } from '#domain/kernel/ids.ts'
import type { ExecutionOutcome, Fence } from '#domain/task/commands.ts'
import type { AgentName } from '#domain/agents.ts'
import type { Execution, LiveTask } from '#domain/task/state.ts'
import { chatView, messageDocumentId, type MessageDocument } from '#domain/views/chat.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import type { Head } from '#platform/eventlog/eventLog.ts'
import type { AgentImage } from '../agents/port.ts'
import type { RunnerDeps } from '../deps.ts'
import { changesReport } from './recording/changesReport.ts'
import { earlySandboxOf, type EarlySandbox } from '../prewarm/earlySandbox.ts'
import { failed, type Failed } from './failed.ts'
import { imagesForAgent } from './messageImages.ts'
import { runOutput } from './recording/terminalOutput.ts'
import { readyToRun } from './executionWorkspace.ts'
import type { Reporter } from './recording/reporter.ts'
import { recordWork } from './recording/savedWork.ts'
import { ownSecrets, valuesOf } from './projectSecrets.ts'
import { setUpWorkspace } from './setupCommand.ts'
import { runShellCommand } from './shellCommand.ts'
import { outcomeOfStop, type Control } from './stopping.ts'
import { sandboxEnvsOf } from './sandboxEnvs.ts'
import { Evicted, type TerminalWriter } from './recording/terminalWriter.ts'
import { withTranscript } from './transcript.ts'
import { runTurn } from './turn.ts'

/** An execution that is ours to run. */
export interface Claimed {
  readonly task: LiveTask
  readonly execution: Execution
  readonly fence: Fence
  readonly head: Head
}

/** Where a run is told of. */
export interface Told {
  readonly control: Control
  readonly report: Reporter
  readonly terminal: TerminalWriter
}

/** What a run is about, as it was when the run was claimed. */
interface Asked {
  readonly document: TaskDocument
  readonly message: MessageDocument & { readonly message: string }
  readonly user: UserDocument
  readonly images: readonly AgentImage[]
}

export async function outcomeOf(deps: RunnerDeps, claimed: Claimed, told: Told): Promise<ExecutionOutcome> {
  const asked = await askedOf(deps, claimed)
  if ('kind' in asked) return asked
  const { task, execution } = claimed
  const session = sessionOf(task, execution.agent)
  const { projectId } = asked.document
  const model = modelFor(asked.document, execution.agent)
  const wish = { projectId, agent: execution.agent, model, session }
  const early = execution.kind === 'turn' ? earlySandboxOf(deps, wish) : undefined
  try {
    return await outcomeWith(deps, claimed, told, { ...asked, session, early })
  } finally {
    await early?.close()
  }
}

async function askedOf(deps: RunnerDeps, { task, execution, head }: Claimed): Promise<Asked | Failed> {
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
  if (!images) return failed('image_erased', 'An image of this message was erased.')
  return { document, message: { ...message, message: message.message }, user, images }
}

async function outcomeWith(
  deps: RunnerDeps,
  { task, execution, fence }: Claimed,
  { control: { stop, steering }, report, terminal }: Told,
  {
    document,
    message,
    user,
    images,
    session: before,
    early,
  }: Asked & { readonly session: string | null; readonly early: EarlySandbox | undefined },
): Promise<ExecutionOutcome> {
  const { executionId } = fence
  const prepared = await readyToRun(deps, {
    task,
    document,
    user,
    fence,
    kind: execution.kind,
    session: before,
    terminal,
    reporter: report,
    early,
    stop,
  })
  const stopped = outcomeOfStop(stop)
  if (stopped) return stopped
  if (prepared.kind === 'failed') return prepared

  const { workspace, access, session } = prepared
  const { sandbox } = deps
  const treeGit = 'missing' in sandbox ? deps.git : sandbox.gitFor(workspace)
  const around = await sandboxEnvsOf(deps, {
    projectId: task.projectId,
    agent: execution.agent,
    workspace,
    repositoryUrl: access.url,
  })
  const secrets = valuesOf([...around.secrets, ...ownSecrets(deps, access)])
  const changes = changesReport({
    git: deps.git,
    treeGit,
    workspace,
    executionId,
    secrets,
    redaction: deps.redaction,
    mostBytes: deps.allowances.runBytes,
    blobs: deps.blobs,
    reporter: report,
  })
  const output = runOutput(terminal, { fence, kind: execution.kind, redaction: deps.redaction(secrets) })
  const run = { fence, stopping: stop, steering, reporter: report, terminal, output, changes }
  const unhear = deps.egress.hear(
    task.taskId,
    (line) => void output.stderr.write(`${line}\n`).catch(() => undefined),
  )
  const unwatchDisk = deps.disk.watch({ workspace, stop })
  try {
    const unready = await setUpWorkspace(deps, { run, workspace, around })
    if (unready) return unready
    const { forCommands, withSecrets, forAgent } = around
    return execution.kind === 'command'
      ? await runShellCommand(deps, {
          run,
          workspace,
          messageId: execution.messageId,
          command: message.message,
          sandboxEnv: message.withSecrets ? withSecrets : forCommands,
        })
      : await runTurn(deps, {
          run,
          workspace,
          agent: execution.agent,
          message:
            session === null
              ? withTranscript(message.message, await earlier(deps, message))
              : message.message,
          images,
          session,
          model: modelFor(document, execution.agent),
          sandboxEnv: forAgent,
          early,
          ownerId: task.ownerId,
          secrets,
        })
  } finally {
    unwatchDisk()
    unhear()
    await prepared.settle()
    await output.end()
    await changes.stop()
    if (stop.reason() !== 'evicted' && stop.reason() !== 'deleted') {
      const { agent } = execution
      const saving = recordWork(deps, { task, workspace, treeGit, agent, executionId, reporter: report })
      await Promise.all([
        recorded(deps, 'the changes could not be read', changes.record()),
        recorded(deps, 'the work could not be saved', saving),
      ])
    }
  }
}

/** What cannot be recorded of a turn takes nothing from it. */
async function recorded(deps: RunnerDeps, failing: string, recording: Promise<void>): Promise<void> {
  await recording.catch((fault: unknown) => {
    if (fault instanceof Evicted) throw fault
    deps.logger.error({ err: fault }, failing)
  })
}

/** Messages of the task before this one, the latest hundred, oldest first. */
async function earlier(
  { documents }: RunnerDeps,
  { task, order }: MessageDocument,
): Promise<readonly MessageDocument[]> {
  const found = await documents.find(chatView, {
    where: { task },
    sort: { field: 'order', direction: 'descending' },
    limit: 100,
    after: { value: order, id: '' },
  })
  return [...found].reverse()
}

/** What was chosen for one agent means nothing to another. */
function modelFor(document: TaskDocument, agent: AgentName): string | null {
  return document.modelAgent === agent ? document.codexModel : null
}

function sessionOf({ session }: LiveTask, agent: AgentName): string | null {
  return session?.agent === agent ? session.sessionId : null
}

async function userOf({ documents, log }: RunnerDeps, userId: string) {
  const stream = userStream(userId)
  return documents.asOf(usersView, stream, userId, await log.headOf(stream))
}
