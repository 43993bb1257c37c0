/** How a run gets its workspace, decided from what the log says of the task and what is on the disk. Pure. */

export interface TaskFacts {
  /** Why the files of another moment are to be restored; `null` when they are not. */
  readonly pendingRestore: 'fork' | 'undo' | null
  /** The task had a workspace, here or on another runner. */
  readonly hadWorkspace: boolean
  /** A snapshot of the task's work is kept. */
  readonly hasSnapshot: boolean
  /** The task was cleaned up after its work was merged. */
  readonly isMerged: boolean
}

export interface DiskFacts {
  /** The workspace was just made: it has nothing of the task but what its branch has. */
  readonly isNew: boolean
  /** It was made on the task's own branch at the code host. */
  readonly isOnPushedBranch: boolean
  /** Its branch has all that an evicted workspace of the task had. */
  readonly hasEvictedWork: boolean
}

export type WorkspacePlan =
  /** It is there, as the last run left it. */
  | 'reuse'
  /** It is there, and gets the files of the moment that an undo goes back to. */
  | 'restore_in_place'
  /** It is there but cannot be used: a fork restored its files only in part. */
  | 'recreate'
  /** It is new, and so is the task. */
  | 'create'
  /** It is new, and its branch has all of the work. */
  | 'continue_from_branch'
  /** It is new, at the base branch: the work was merged. */
  | 'start_after_merge'
  /** It is new, and gets the files of the moment that a fork or an undo asks for, or the run fails. */
  | 'restore_moment'
  /** It is new, and gets the work of the last snapshot, as far as there is one. */
  | 'restore_snapshot'

/** Whether a new workspace gets work of the task. A task without a workspace has none, unless it began from a turn of another task. */
export function hasWorkToRestore({ pendingRestore, hadWorkspace, hasSnapshot }: TaskFacts): boolean {
  return hadWorkspace || hasSnapshot || pendingRestore !== null
}

/** The plan for a workspace that was found or made. After `recreate` it is made again, and planned again. */
export function planWorkspace(task: TaskFacts, disk: DiskFacts): WorkspacePlan {
  const { pendingRestore, isMerged } = task
  if (!disk.isNew) {
    if (pendingRestore === null) return 'reuse'
    return pendingRestore === 'fork' ? 'recreate' : 'restore_in_place'
  }
  if (!hasWorkToRestore(task)) return 'create'
  if (pendingRestore !== null) return 'restore_moment'
  if (disk.hasEvictedWork) return 'continue_from_branch'
  // Even after a merge, work continues on the pushed branch as long as the code host has it.
  return isMerged && !disk.isOnPushedBranch ? 'start_after_merge' : 'restore_snapshot'
}
