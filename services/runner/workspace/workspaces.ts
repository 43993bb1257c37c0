/**
 * The workspaces of this runner's tasks, as runs find, make, complete and discard them. One without `ready.json` is incomplete: being made or
 * restored, or left so by what failed. No work is in it: that comes only after it is complete.
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
  /** The user that owns a task's tree; `undefined`: this process's own. */
  readonly ownerOf: (taskId: string) => Promise<HostUser | undefined>
  readonly logger: Pick<Logger, 'warn'>
}

export interface Workspaces {
  /** Whether a task has one here. Throws where that cannot be told. */
  has(taskId: string): Promise<boolean>
  /** The one that a task has, as it is: a run may be at work in it. Throws where that cannot be told. */
  read(taskId: string, mirror: MirrorPlace): Promise<Workspace | undefined>
  /** Makes one, or finds the existing one: asking again is free. Throws `GitFault` and what the file system throws. */
  make(request: Omit<PrepareRequest, Bound | 'owner'>): Promise<PrepareResult>
  /** Renames the branch of one that was made before its task had a title, and in which no agent had a turn yet. Returns it as it is then. */
  renameBranch(workspace: Workspace, name: string): Promise<Workspace>
  /** From now on it counts as complete. All that was to be restored must be there, since a complete one is not restored again. */
  complete(workspace: Workspace): Promise<void>
  /** Removes one that is to be recreated, except the home of an evicted one that is not complete again. Nothing may run in it. */
  discard(taskId: string): Promise<void>
  /** Removes one that is incomplete, except the home that an eviction kept. Nothing may run in it. */
  removeIncomplete(taskId: string): Promise<void>
  /** Runs `make`, which makes or restores one. If that throws, what it left incomplete is removed at once, to free its space. */
  removingLeftovers<T>(of: MakingOf, make: () => Promise<T>): Promise<T>
  /**
   * Whether a new workspace already has all that the evicted one had, because it was pushed; the saved snapshot may be older. The agent's sessions
   * are in the home that was kept. If not, something else is restored, and the evicted head is forgotten, so that it is never compared again.
   */
  hasEvictedWork(
    task: Pick<LiveTask, 'taskId' | 'pendingRestore'>,
    made: { readonly workspace: Workspace; readonly isOnPushedBranch: boolean },
  ): Promise<boolean>
}

interface MakingOf {
  readonly taskId: string
  readonly signal: AbortSignal
  /** Ends what runs in it. */
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
        // Stopping a run must not wait for gigabytes to be deleted: the next run or an eviction deletes them.
        if (!signal.aborted)
          await removed().catch((left: unknown) =>
            logger.warn({ err: left, taskId }, 'failed to remove an incomplete workspace'),
          )
        throw fault
      }
    },
    async hasEvictedWork({ taskId, pendingRestore }, { workspace, isOnPushedBranch }) {
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
