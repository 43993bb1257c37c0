/**
 * The workspaces of this runner's tasks: finding, making, completing and discarding them. A workspace without `ready.json` is incomplete: it is still
 * being made or restored, this has failed, or it was evicted. It contains no work, since no run begins before it is complete.
 */
import type { HostUser } from '#platform/childProcess.ts'
import type { LiveTask } from '#domain/task/state.ts'
import type { Logger } from '#platform/log.ts'
import {
  createOrFindWorkspace,
  renameBranch,
  type PrepareRequest,
  type PrepareResult,
} from './createWorkspace.ts'
import { endedWell, type Git } from './git/git.ts'
import type { MirrorPlace } from './git/mirror.ts'
import {
  completeWorkspace,
  evictedHead,
  forgetEvictedHead,
  hasWorkspace,
  readWorkspace,
  removeIncomplete,
  removeWorkspace,
  type Workspace,
} from './workspace.ts'

type Bound = 'root' | 'path' | 'checkCheckout' | 'limit'

interface WorkspacesOptions extends Pick<PrepareRequest, Bound> {
  readonly git: Git
  /** Returns the owner of a task's tree; `undefined` for this process's own user. */
  readonly ownerOf: (taskId: string) => Promise<HostUser | undefined>
  readonly logger: Pick<Logger, 'warn'>
}

export interface Workspaces {
  /** Whether a task has a workspace here. Throws when that cannot be read. */
  has(taskId: string): Promise<boolean>
  /** Returns the present workspace of a task, in which a run may be working. Throws when it cannot be read. */
  read(taskId: string, mirror: MirrorPlace): Promise<Workspace | undefined>
  /** Makes a workspace, or finds the existing one, so that a call can be repeated. Throws `GitFault` and file system errors. */
  make(request: Omit<PrepareRequest, Bound | 'owner'>): Promise<PrepareResult>
  /**
   * Renames the branch of a workspace that was made before its task had a title. No agent may have had a turn in it. Returns the changed workspace.
   */
  renameBranch(workspace: Workspace, name: string): Promise<Workspace>
  /** Marks a workspace as complete. Everything that had to be restored must be there, since a complete workspace is not restored again. */
  complete(workspace: Workspace): Promise<void>
  /**
   * Removes a workspace that will be made again. If the workspace is incomplete and was evicted, its home stays. Nothing may run in the workspace.
   */
  discard(taskId: string): Promise<void>
  /** Removes an incomplete workspace, except for the home that an eviction kept. Nothing may run in it. */
  removeIncomplete(taskId: string): Promise<void>
  /**
   * Runs `make`, which makes or restores a workspace. If that throws although the run was not stopped, an incomplete workspace is removed at once, to
   * free its space.
   */
  removingLeftovers<T>(of: MakingOf, make: () => Promise<T>): Promise<T>
  /**
   * Whether all work of the evicted workspace was pushed, so that the new workspace already has it; the saved snapshot may be older. The agent's
   * sessions are in the home, which was kept. If the result is false, the caller restores something else, and the evicted head is forgotten, so that
   * it is never compared again.
   */
  branchHasEvictedWork(
    task: Pick<LiveTask, 'taskId' | 'pendingRestore'>,
    made: { readonly workspace: Workspace; readonly isOnPushedBranch: boolean },
  ): Promise<boolean>
}

interface MakingOf {
  readonly taskId: string
  readonly signal: AbortSignal
  /** Ends everything that runs in the workspace. */
  readonly close?: (() => Promise<void>) | undefined
}

export function openWorkspaces({ git, ownerOf, logger, ...places }: WorkspacesOptions): Workspaces {
  const { root, path } = places
  return {
    has: (taskId) => hasWorkspace(root, taskId),
    read: (taskId, mirror) => readWorkspace({ root, taskId, mirror }),
    make: async (request) =>
      createOrFindWorkspace({ ...places, ...request, owner: await ownerOf(request.taskId) }),
    renameBranch: (workspace, name) => renameBranch(git, root, workspace, name),
    complete: (workspace) => completeWorkspace(root, workspace),
    async discard(taskId) {
      if (await hasWorkspace(root, taskId)) await removeWorkspace(root, taskId, path)
      else await removeIncomplete(root, taskId, path)
    },
    async removeIncomplete(taskId) {
      await removeIncomplete(root, taskId, path)
    },
    async removingLeftovers({ taskId, signal, close }, make) {
      try {
        return await make()
      } catch (fault) {
        const removed = async () => {
          await close?.()
          await removeIncomplete(root, taskId, path)
        }
        // Stopping a run must not wait until gigabytes are deleted: the next run or an eviction deletes them.
        if (!signal.aborted)
          await removed().catch((left: unknown) =>
            logger.warn({ err: left, taskId }, 'failed to remove an incomplete workspace'),
          )
        throw fault
      }
    },
    async branchHasEvictedWork({ taskId, pendingRestore }, { workspace, isOnPushedBranch }) {
      const head = await evictedHead(root, taskId)
      if (head === null) return false
      const { privateGitDir: gitDir, startCommit } = workspace
      if (pendingRestore === null && isOnPushedBranch && startCommit !== null) {
        const args = ['merge-base', '--is-ancestor', head, startCommit]
        if (endedWell(await git({ gitDir, args }))) return true
      }
      await forgetEvictedHead(root, taskId)
      return false
    },
  }
}
