/** Removes workspace and branch of a task whose pull request is over: in this order, as the runner says whether the work is kept. */
import type { BranchOutcome, WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { whyNotOver } from '#domain/task/codeHost/cleanUp.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { cleanUpBranch, type BranchCleanUp } from './mergedBranch.ts'

export interface TaskCleanUpServices extends BranchCleanUp {
  readonly rpc: Pick<Rpc, 'ask'>
  readonly commands: Pick<Commands, 'load'>
}

/** Together with the rest of the request, below the client's time-out of 30 s. */
const runnerWithinMs = 15_000

/** What became of each. Never throws for what the code host or the runner says. */
export async function cleanUp(
  services: TaskCleanUpServices,
  state: LiveTask,
): Promise<{ readonly branch: BranchOutcome; readonly workspace: WorkspaceOutcome }> {
  const workspace = await removeWorkspace(services, state)
  const whyKept = async () =>
    workspace === 'in_use' ? workspace : await whyBranchIsKept(services, state.taskId)
  // Looked for even if the branch must stay, as it may be gone already.
  return { branch: await cleanUpBranch(services, state, whyKept), workspace }
}

async function removeWorkspace(
  { rpc }: Pick<TaskCleanUpServices, 'rpc'>,
  { taskId, lastRunnerId: runnerId }: LiveTask,
): Promise<WorkspaceOutcome> {
  if (runnerId === null) return 'none'
  const answered = await rpc.ask('removeWorkspace', { taskId, runnerId }, runnerWithinMs)
  return answered?.outcome ?? 'unreachable'
}

/**
 * Why the branch must stay, by the log as it is now: the task goes on, or its work was not merged and no runner has found it saved, in this
 * try or an earlier one.
 */
async function whyBranchIsKept(
  { commands }: Pick<TaskCleanUpServices, 'commands'>,
  taskId: string,
): Promise<'in_use' | 'only_copy' | null> {
  const { state } = await commands.load(task, taskStream(taskId))
  if (state.kind !== 'task' || whyNotOver(state) !== null) return 'in_use'
  const isMerged = state.pullRequest?.observed?.state === 'merged'
  return isMerged || state.cleanUp.work === 'saved' ? null : 'only_copy'
}
