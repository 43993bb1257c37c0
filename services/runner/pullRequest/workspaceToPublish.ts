/** Finds or recreates the workspace whose work is published. */
import { failed, type Failed } from '../execution/failure.ts'
import { readyWorkspace, type ReadyWorkspace } from '../execution/prepareWorkspace.ts'
import { commitOf } from '../workspace/git/git.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Publication, PublishingDeps } from './publication.ts'

const lostWork =
  "This task's workspace is gone, and work that was not pushed could not be restored. Let the agent continue, then try again."

/**
 * Whether the work has a base branch to be merged into: the branch is in the refreshed mirror, or the repository was empty and the work itself
 * becomes the branch.
 */
export async function hasBase({ git }: PublishingDeps, workspace: Workspace): Promise<boolean> {
  const { branch, baseBranch, mirrorDir } = workspace
  return branch === baseBranch || (await commitOf(git, mirrorDir, `refs/heads/${baseBranch}`)) !== null
}

/** The task's workspace. If it no longer exists, it is recreated with the saved work. */
export async function workspaceToPublish(
  deps: PublishingDeps,
  publication: Publication,
): Promise<ReadyWorkspace | Failed> {
  const { task, signal } = publication
  return deps.workspaces.removingLeftovers({ taskId: task.id, signal }, () =>
    makeOrRestore(deps, publication),
  )
}

async function makeOrRestore(
  deps: PublishingDeps,
  { state, task, user, signal }: Publication,
): Promise<ReadyWorkspace | Failed> {
  const ready = await readyWorkspace(deps, {
    task: { ...task, lastBase: state.baseCommit },
    user,
    executionId: '',
    reporter: null,
    output: null,
    signal,
    needs: 'push',
    isToBeRestored: true,
  })
  if (ready.kind === 'failed' || !ready.isNew) return ready
  const branchHasEvictedWork = await deps.workspaces.branchHasEvictedWork(state, ready)
  if (!branchHasEvictedWork && (await deps.snapshots.restore(state, ready.workspace)).kind !== 'restored') {
    await deps.workspaces.removeIncomplete(task.id)
    return failed('no_changes', lostWork)
  }
  await deps.workspaces.complete(ready.workspace)
  return ready
}
