/** The workspace of an execution: the one in which an agent waits, the one that is there, or one that is made and given back what was saved. */
import type { Fence } from '#domain/task/commands.ts'
import type { ExecutionKind } from '#domain/task/events.ts'
import type { LiveTask } from '#domain/task/state.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { UserDocument } from '#domain/views/users.ts'
import type { RunnerDeps } from '../deps.ts'
import { removeWorkspace } from '../workspace/workspace.ts'
import { runOutput } from './recording/terminalOutput.ts'
import type { EarlySandbox } from '../prewarm/earlySandbox.ts'
import type { Failed } from './failed.ts'
import { prepare, prepareForWaitingAgent, type Ready } from './prepareWorkspace.ts'
import type { Reporter } from './recording/reporter.ts'
import { bringBack } from './recording/savedWork.ts'
import type { Stopping } from './stopping.ts'
import type { TerminalWriter } from './recording/terminalWriter.ts'

export interface ReadyToRun extends Ready {
  /** The session that the agent goes on with; `null`: a new one. */
  readonly session: string | null
}

const broughtBack = "This task's workspace was recreated with its work as of the last turn."
const lost = "This task's workspace was recreated. Work that was not pushed could not be restored."

export async function readyToRun(
  deps: RunnerDeps,
  asked: {
    readonly task: LiveTask
    readonly document: TaskDocument
    readonly user: UserDocument
    readonly fence: Fence
    readonly kind: ExecutionKind
    /** For the turn of an agent. */
    readonly early: EarlySandbox | undefined
    /** The session that the agent of this execution had in the task. */
    readonly session: string | null
    readonly terminal: TerminalWriter
    readonly reporter: Reporter
    readonly stop: Stopping
  },
): Promise<ReadyToRun | Failed> {
  const { task, document, user, fence, kind, reporter, early, stop } = asked
  const { executionId } = fence
  const waiting = kind === 'turn' ? await waitingFor(deps, document) : undefined
  if (waiting) {
    const beside = { task: document, workspace: waiting, executionId, reporter, stop }
    const ready = await prepareForWaitingAgent(deps, beside)
    return ready.kind === 'failed' ? ready : { ...ready, session: asked.session }
  }
  // Of what comes before, nothing is a command's.
  const booting = runOutput(asked.terminal, { fence, kind: 'turn', redaction: deps.redaction([]) })
  const { signal } = stop
  const { stdout: output } = booting
  const preparing = { task: document, user, executionId, reporter, output, early, signal }
  try {
    const ready = await prepare(deps, preparing)
    if (ready.kind === 'failed') return ready
    // A task that had no workspace yet lacks nothing.
    if (!ready.isNew || document.workspace !== 'ready') return { ...ready, session: asked.session }
    const back = await bringBack(deps, task, ready.workspace)
    await booting.stderr.write(`${back.kind === 'brought_back' ? broughtBack : lost}\n`)
    if (back.kind === 'brought_back')
      return { ...ready, session: back.session === null ? null : asked.session }
    if (back.kind === 'nothing_saved') return { ...ready, session: null }
    deps.logger.warn({ taskId: task.taskId, why: back.why }, 'failed to restore saved work')
    await early?.close()
    await removeWorkspace(deps.root, task.taskId, deps.path)
    const anew = await prepare(deps, preparing)
    return anew.kind === 'failed' ? anew : { ...anew, session: null }
  } finally {
    await booting.end()
  }
}

/** The workspace in which an agent waits for this task, or that was made ahead of it. */
async function waitingFor({ warm, prewarm }: RunnerDeps, task: TaskDocument) {
  return task.workspace === 'ready' ? warm.workspaceOf(task.id) : prewarm.adopt(task)
}
