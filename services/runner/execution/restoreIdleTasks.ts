/** Restores the files of a task as soon as an undo is recorded. What is missed here is restored when the task runs next. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseStream, taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { ownSecrets, settingsOf, valuesOf } from './projectSecrets.ts'
import { changesNow } from './recording/changesReport.ts'
import { mirrored, reachAsPerson } from './repositoryAccess.ts'
import { recordRestored, restoreTask } from './restore.ts'
import type { ExecutionDeps } from './run.ts'
import { isTaskFolderName } from '../workspace/names.ts'
import { findWorkspace } from '../workspace/workspace.ts'

/** Watches until the returned function is called, which waits for what is being restored. */
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
  // An earlier process may have been killed before it was done.
  void interruptedRestores(deps).then(
    (taskIds) => taskIds.forEach(begin),
    (fault: unknown) => deps.logger.warn({ err: fault }, 'failed to look for interrupted restores'),
  )
  return async () => {
    unsubscribe()
    await Promise.all(working)
  }
}

/** The tasks with a workspace below `root` whose files are still those from before an undo. */
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
      // A task that cannot be read must not hold up the others.
      logger.warn({ err: fault, taskId }, 'failed to look for an interrupted restore')
    }
  }
  return found
}

async function restoreIdleTask(deps: ExecutionDeps, taskId: string): Promise<void> {
  if (!(await deps.workspaces.has(taskId))) return
  await deps.locks.hold(taskId, async () => {
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
    // A warm agent still remembers the turns that were undone.
    await deps.prewarm.agents.drop(taskId)
    const restored = await restoreTask(deps, state, workspace)
    if (restored.kind === 'failed') return deps.logger.warn({ taskId }, restored.reason)
    // Without its session the agent needs the conversation as text, which the next run sees to.
    if (state.session !== null && !restored.resumes) return
    const secrets = valuesOf([
      ...(await settingsOf(deps, state.projectId)).secrets,
      ...ownSecrets(deps, access),
    ])
    const { executionId } = state.pendingRestore
    const work = { git: deps.git, treeGit: deps.treeGitFor(workspace), workspace, executionId, secrets }
    await recordRestored(deps, state, restored.kept, await changesNow(deps, work))
  })
}
