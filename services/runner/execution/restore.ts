/** Restores the files and the agent's session of the moment that an undo goes back to, or of the turn that a task was created from. */
import { randomUUID } from 'node:crypto'
import { taskStream } from '#domain/kernel/streams.ts'
import type { WorkspaceChanged } from '#domain/task/events.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import { pointOf } from '#domain/task/restorePoints.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { commitOf } from '../workspace/git/git.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { failed, type Failed } from './failure.ts'
import { snapshotRef } from './recording/snapshots.ts'

type Deps = Pick<RecordingDeps, 'commands'> & Pick<WorkspaceDeps, 'git' | 'snapshots'>

export interface Restored {
  readonly kind: 'restored'
  /** Files that stay as they are, since git ignores them. */
  readonly kept: readonly string[]
  /** Whether the agent can resume the session of that time. */
  readonly resumes: boolean
}

const actor = { kind: 'system', service: 'runner' } as const

/**
 * Brings an existing workspace to the snapshot that the task asks for. Its current files are in the previous turn's snapshot, which is taken first
 * if it is missing. Nothing may run in the workspace. An interrupted restore is repeated.
 */
export async function restoreTask(
  deps: Deps,
  task: LiveTask,
  workspace: Workspace,
): Promise<Restored | Failed> {
  const { snapshots } = deps
  const { saved } = task
  const missing = saved && (await snapshots.fetch(saved, workspace))
  if (missing) return failed('restore_failed', missing)
  await keepWhatIsThere(deps, task, workspace)
  const restored = await snapshots.restoreInPlace(saved, workspace)
  if (restored.kind === 'too_large') return failed('restore_failed', restored.message)
  return { kind: 'restored', kept: restored.kept, resumes: await snapshots.restoreSession(task, workspace) }
}

/**
 * Takes the snapshot that the undone turn did not leave, so that the undo can be undone. Only the first attempt does: a later one would find
 * restored files.
 */
async function keepWhatIsThere(deps: Deps, task: LiveTask, workspace: Workspace): Promise<void> {
  const { pendingRestore, restorePoints } = task
  const undo = pendingRestore && pointOf(restorePoints.points, pendingRestore.executionId)
  const before = undo && undo.before !== null ? restorePoints.points[undo.before] : undefined
  if (!pendingRestore || !before || before.snapshot !== null) return
  const { executionId } = before
  if ((await commitOf(deps.git, workspace.privateGitDir, snapshotRef(executionId))) !== null) return
  await deps.snapshots.record({
    task,
    workspace,
    agent: task.session?.agent ?? task.agent,
    executionId,
    report: async (snapshot) => {
      const command = { type: 'RecordSnapshot', undoId: pendingRestore.executionId, snapshot } as const
      await deps.commands.execute(decider, taskStream(task.taskId), command, {
        actor,
        commandId: randomUUID(),
      })
    },
  })
}

/** Records that the files are restored, with the changes that they make now. */
export async function recordRestored(
  { commands }: Pick<Deps, 'commands'>,
  { taskId, pendingRestore }: LiveTask,
  keptPaths: readonly string[],
  changes: EventOf<typeof WorkspaceChanged> | null,
): Promise<void> {
  if (pendingRestore === null) return
  const { executionId } = pendingRestore
  const command = { type: 'RecordRestore', executionId, keptPaths, changes } as const
  await commands.execute(decider, taskStream(taskId), command, { actor, commandId: randomUUID() })
}
