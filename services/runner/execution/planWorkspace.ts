/** Plans how a run gets its workspace, from the task's facts in the log and the state of the disk. Has no side effects. */

export interface TaskFacts {
  /** Why the files must be restored as they were at the end of another turn; `null` when they need not be. */
  readonly pendingRestore: 'fork' | 'undo' | null
  /** Whether the task ever had a workspace, here or on another runner. */
  readonly hadWorkspace: boolean
  /** Whether there is a snapshot of the task's work. */
  readonly hasSnapshot: boolean
  /** Whether the task was cleaned up after its work was merged. */
  readonly isMerged: boolean
}

export interface DiskFacts {
  /** Whether the workspace was just made, so that it has nothing of the task except what its branch has. */
  readonly isNew: boolean
  /** Whether the workspace was just made, from the task's own branch at the code host. */
  readonly isOnPushedBranch: boolean
  /** Whether the task's branch at the code host has everything that an evicted workspace of the task had. */
  readonly branchHasEvictedWork: boolean
}

export type WorkspacePlan =
  /** The workspace exists and is used as the last run left it. */
  | 'reuse'
  /** The workspace exists, and gets the files of the snapshot to which an undo goes back. */
  | 'restore_in_place'
  /** The workspace exists but cannot be used. It should have the files from a turn of another task, but they were restored only partly. */
  | 'recreate'
  /** Workspace and task are new. */
  | 'create'
  /** The workspace is new, and its branch has all of the work. */
  | 'continue_from_branch'
  /** The workspace is new and at the base branch, since the work was merged. */
  | 'start_after_merge'
  /**
   * The workspace is new, and gets the files from the end of a turn: the turn to which an undo goes back, or the turn that the task was created from.
   * If that is impossible, the run fails.
   */
  | 'restore_moment'
  /** The workspace is new, and gets the work of the last snapshot, if there is one. */
  | 'restore_snapshot'

/**
 * Whether earlier work must be brought into a new workspace. A task that never had a workspace has none, unless it was created from a turn of another
 * task.
 */
export function hasWorkToRestore({ pendingRestore, hadWorkspace, hasSnapshot }: TaskFacts): boolean {
  return hadWorkspace || hasSnapshot || pendingRestore !== null
}

/** The plan for a workspace that was found or made. After `recreate`, the workspace is made again and planned again. */
export function planWorkspace(task: TaskFacts, disk: DiskFacts): WorkspacePlan {
  const { pendingRestore, isMerged } = task
  if (!disk.isNew) {
    if (pendingRestore === null) return 'reuse'
    return pendingRestore === 'fork' ? 'recreate' : 'restore_in_place'
  }
  if (!hasWorkToRestore(task)) return 'create'
  if (pendingRestore !== null) return 'restore_moment'
  if (disk.branchHasEvictedWork) return 'continue_from_branch'
  // Even after a merge, work continues on the pushed branch as long as the code host has that branch.
  return isMerged && !disk.isOnPushedBranch ? 'start_after_merge' : 'restore_snapshot'
}
