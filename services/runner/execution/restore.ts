/**
 * Restores the files and the agent's session from the end of an earlier turn: for an undo, or for a task that was created from a turn of another
 * task.
 */
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseStream, taskStream } from '#domain/kernel/streams.ts'
import type { WorkspaceChanged } from '#domain/task/events.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import { pointOf } from '#domain/task/restorePoints.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { isElsewhere } from '../queue/taskAffinity.ts'
import { commitOf } from '../workspace/git/git.ts'
import { isTaskFolderName } from '../workspace/names.ts'
import { findWorkspace, type Workspace } from '../workspace/workspace.ts'
import { failed, type Failed } from './failure.ts'
import { ownSecrets, settingsOf, valuesOf } from './taskSecrets.ts'
import { changesNow } from './recording/changesReport.ts'
import { snapshotRef } from './recording/snapshots.ts'
import { mirrored, reachAsPerson } from './repositoryAccess.ts'
import type { ExecutionDeps } from './runTypes.ts'

type Deps = Pick<RecordingDeps, 'commands'> & Pick<WorkspaceDeps, 'git' | 'snapshots'>

export interface Restored {
  readonly kind: 'restored'
  /** Paths of files that the restore left as they are, because git ignores them or something else is at their path. */
  readonly kept: readonly string[]
  /** Whether the agent can resume its session as it was when the snapshot was taken. */
  readonly resumes: boolean
}

const actor = { kind: 'system', service: 'runner' } as const

/**
 * Sets an existing workspace to the snapshot that the task needs. The workspace's current files are in the snapshot of the previous turn; if there is
 * no such snapshot, it is taken first. Nothing may run in the workspace. An interrupted restore is repeated.
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
 * Takes the snapshot that the undone turn lacks, so that the undo can be undone. It is taken only on the first attempt, since a later attempt may
 * find files that are already restored.
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

/** Records that the files are restored, and the changes that result. */
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

/**
 * Restores the files of idle tasks as soon as an undo is recorded; tasks that are missed are restored at their next run. Watches until the returned
 * function is called, which waits for running restores.
 */
export function restoreIdleTasks(deps: ExecutionDeps): () => Promise<void> {
  const working = new Set<Promise<void>>()
  const begin = (taskId: string): void => {
    const work = restoreIdleTask(deps, taskId)
      .catch((fault: unknown) => deps.logger.warn({ err: fault, taskId }, 'failed to restore files'))
      .finally(() => working.delete(work))
    working.add(work)
  }
  const unsubscribe = deps.bus.subscribe('appended', ({ type, stream }) => {
    const of = type === 'TurnsUndone' ? parseStream(stream) : undefined
    if (of?.kind === 'task') begin(of.id)
  })
  // An earlier process may have been killed during a restore.
  void interruptedRestores(deps).then(
    (taskIds) => taskIds.forEach(begin),
    (fault: unknown) => deps.logger.warn({ err: fault }, 'failed to look for interrupted restores'),
  )
  return async () => {
    unsubscribe()
    await Promise.all(working)
  }
}

/** The tasks with a workspace below `root` in which the restore after an undo is still pending. */
export async function interruptedRestores({
  root,
  commands,
  logger,
}: Pick<ExecutionDeps, 'root' | 'commands' | 'logger'>): Promise<readonly string[]> {
  const names = (await readdir(join(root, 'tasks')).catch(() => [])).filter(isTaskFolderName)
  const found: string[] = []
  for (const taskId of names) {
    try {
      const { state } = await commands.load(decider, taskStream(taskId))
      if (state.kind === 'task' && state.pendingRestore?.reason === 'undo') found.push(taskId)
    } catch (fault) {
      // A task that cannot be read must not stop the others.
      logger.warn({ err: fault, taskId }, 'failed to look for an interrupted restore')
    }
  }
  return found
}

async function restoreIdleTask(deps: ExecutionDeps, taskId: string): Promise<void> {
  if (!(await deps.workspaces.has(taskId))) return
  await deps.locks.hold(taskId, async () => {
    if (await isElsewhere(deps, taskId)) return
    const { state } = await deps.commands.load(decider, taskStream(taskId))
    if (state.kind !== 'task' || state.pendingRestore?.reason !== 'undo') return
    if (state.phase.status === 'running') return
    const document = await deps.documents.get(tasksView, taskId)
    if (!document) return
    const reached = await reachAsPerson(deps, document)
    if (reached.kind === 'failed') return
    const { access } = reached
    const mirror = await deps.mirrors.find(mirrored(reached))
    const workspace = mirror && (await findWorkspace(deps.git, { root: deps.root, taskId, mirror }))
    if (!workspace) return
    // A warm agent still remembers the turns that were undone, and programs that run could lead git out of the tree.
    await deps.endSandboxes(taskId)
    const restored = await restoreTask(deps, state, workspace)
    if (restored.kind === 'failed') return deps.logger.warn({ taskId }, restored.reason)
    // If the agent cannot resume its session, it needs the conversation as text. The next run provides this text, so the restore stays pending until
    // then.
    if (state.session !== null && !restored.resumes) return
    const secrets = valuesOf([
      ...(await settingsOf(deps, state.projectId)).secrets,
      ...(await ownSecrets(deps, access, state)),
    ])
    const { executionId } = state.pendingRestore
    const work = { git: deps.git, treeGit: deps.treeGitFor(workspace), workspace, executionId, secrets }
    await recordRestored(deps, state, restored.kept, await changesNow(deps, work))
  })
}
