/** Removes the workspace of a task whose pull request was merged or closed. */
import { randomUUID } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { WorkPlace } from '#domain/task/codeHost/cleanUpEvents.ts'
import { task as decider } from '#domain/task/task.ts'
import type { RpcResponse, RpcRequest } from '#platform/ports/rpc.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { ExecutionDeps } from '../execution/runTypes.ts'
import { ifAbsent } from '#platform/files.ts'
import { isTaskFolderName } from '../workspace/names.ts'
import { removeWorkspace, taskFolder } from '../workspace/workspace.ts'
import {
  HostDidNotAnswer,
  repositoryOf,
  workLocationOf,
  type Repository,
  type WorkDeps,
} from './workLocation.ts'

export type RemovalDeps = WorkDeps &
  Pick<WorkspaceDeps, 'path' | 'locks'> &
  Pick<RecordingDeps, 'commands' | 'runnerId' | 'logger'> &
  Pick<ExecutionDeps, 'endSandboxes'> & {
    /** Begins to refresh the mirror of the task's repository, without waiting for it. Never throws. */
    readonly refreshMirror: (of: Repository) => void
  }

type Removal = RpcResponse<'removeWorkspace'>

/** Removes the workspace if the request names this runner; otherwise leaves the call to other runners. */
export async function removeOwnWorkspace(
  deps: RemovalDeps,
  { taskId, runnerId }: RpcRequest<'removeWorkspace'>,
): Promise<Removal | undefined> {
  const { root, path, locks, commands, endSandboxes } = deps
  if (runnerId !== deps.runnerId || !isTaskFolderName(taskId)) return undefined
  const removed = await locks.holdIfFree(taskId, async (): Promise<Removal> => {
    // The state is read under the lock: a run that begins from now on waits for the lock, and recreates its workspace.
    const { state } = await commands.load(decider, taskStream(taskId))
    if (state.kind !== 'task' || 'execution' in state.phase || state.pullRequestRequest !== null)
      return { outcome: 'in_use' }
    const folder = await lstat(taskFolder(root, taskId)).catch(ifAbsent)
    if (!folder) return { outcome: 'none' }
    await endSandboxes(taskId)
    const work = await workLocationOf(deps, state).catch((fault: unknown) => {
      deps.logger.warn({ err: fault, taskId }, 'failed to look at the work of a workspace that is to go')
      return fault instanceof HostDidNotAnswer ? ('unreachable' as const) : ('here' as const)
    })
    if (work === 'here') return { outcome: 'not_saved' }
    if (work === 'unreachable') {
      // The fetch may take longer than anybody waits for a clean-up. It continues, so that the next attempt finds the commits that it needs.
      deps.refreshMirror(repositoryOf(state))
      return { outcome: work }
    }
    // `mayBegin` records where the work is before anything is removed. So the record is not lost if this process crashes, or if the caller no longer
    // waits.
    if (!(await mayBegin(deps, taskId, work))) return { outcome: 'in_use' }
    await removeWorkspace(root, taskId, path)
    return { outcome: 'removed' }
  })
  return removed ?? { outcome: 'in_use' }
}

/** Records where the work is; false when the task was continued in the meantime, or its pull request is open again. */
async function mayBegin(
  { commands }: Pick<RemovalDeps, 'commands'>,
  taskId: string,
  work: WorkPlace,
): Promise<boolean> {
  const cause = { actor: { kind: 'system', service: 'runner' }, commandId: randomUUID() } as const
  try {
    await commands.execute(decider, taskStream(taskId), { type: 'BeginCleanUp', work }, cause)
    return true
  } catch (fault) {
    if (fault instanceof Fault && (fault.code === 'task_running' || fault.code === 'pull_request_open'))
      return false
    throw fault
  }
}
