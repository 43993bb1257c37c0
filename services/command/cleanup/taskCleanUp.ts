/** Removes workspace and branch of a task whose pull request is over: in this order, as the runner says whether the work is kept. */
import type { BranchOutcome, WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { cleanUpBranch, type BranchCleanUp } from './mergedBranch.ts'

export interface TaskCleanUpServices extends BranchCleanUp {
  readonly rpc: Pick<Rpc, 'ask'>
  readonly commands: Pick<Commands, 'load'>
}

/** With the rest of the request below the client's time-out of 30 s. */
const runnerWithinMs = 15_000

/** What became of each. Never throws for what the code host or the runner says. */
export async function cleanUp(
  services: TaskCleanUpServices,
  state: LiveTask,
): Promise<{ readonly branch: BranchOutcome; readonly workspace: WorkspaceOutcome }> {
  const workspace = await removeWorkspace(services, state)
  const branch = (await isKept(services, state)) ? await cleanUpBranch(services, state) : 'only_copy'
  return { branch, workspace }
}

async function removeWorkspace(
  { rpc }: Pick<TaskCleanUpServices, 'rpc'>,
  { taskId, lastRunnerId: runnerId }: LiveTask,
): Promise<WorkspaceOutcome> {
  if (runnerId === null) return 'none'
  const answered = await rpc.ask('removeWorkspace', { taskId, runnerId }, runnerWithinMs)
  return answered?.outcome ?? 'unreachable'
}

/** Work that was not merged must be known to be saved before its branch goes: as a runner found it, in this try or an earlier one. */
async function isKept(
  { commands }: Pick<TaskCleanUpServices, 'commands'>,
  { taskId, pullRequest }: LiveTask,
): Promise<boolean> {
  if (pullRequest?.observed?.state === 'merged') return true
  const { state } = await commands.load(task, taskStream(taskId))
  return state.kind === 'task' && state.cleanUp.work === 'saved'
}
