/** Workspaces without `ready.json`: being made or restored, or left so by what failed. No work is in them: it comes only after they are complete. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { LiveTask } from '#domain/task/state.ts'
import type { Logger } from '#platform/log.ts'
import { removeFolder } from './agentFiles.ts'
import { ifAbsent } from '#platform/files.ts'
import { endedWell, type Git } from './git/git.ts'
import {
  evictedHead,
  evictedMarker,
  forgetEvictedHead,
  hasWorkspace,
  removeWorkspace,
  taskFolder,
  type Workspace,
} from './workspace.ts'

/** What is in a task's folder: what is to be removed, and what an eviction kept. */
export interface Incomplete {
  readonly gone: readonly string[]
  readonly kept: readonly string[]
}

/** What an incomplete workspace consists of; nothing if it is complete. Throws if that cannot be told. */
export async function incompleteOf(root: string, taskId: string): Promise<Incomplete> {
  if (await hasWorkspace(root, taskId)) return { gone: [], kept: [] }
  const names: readonly string[] = (await readdir(taskFolder(root, taskId)).catch(ifAbsent)) ?? []
  const isEvicted = names.includes(evictedMarker)
  const isKept = (name: string) => isEvicted && (name === evictedMarker || name === 'home')
  return { gone: names.filter((name) => !isKept(name)), kept: names.filter(isKept) }
}

/** Removes an incomplete workspace except the home that an eviction kept, and returns what went and what was kept. Precondition: nothing runs in it. */
export async function removeIncomplete(root: string, taskId: string, path: string): Promise<Incomplete> {
  const incomplete = await incompleteOf(root, taskId)
  const { gone, kept } = incomplete
  const task = taskFolder(root, taskId)
  const dirs = kept.length > 0 || gone.length === 0 ? gone.map((name) => join(task, name)) : [task]
  for (const dir of dirs) await removeFolder(dir, path)
  return incomplete
}

/** Removes a workspace that is to be recreated, except the home of an evicted one that is not complete again. Nothing may run in it. */
export async function discardWorkspace(root: string, taskId: string, path: string): Promise<void> {
  if (await hasWorkspace(root, taskId)) await removeWorkspace(root, taskId, path)
  else await removeIncomplete(root, taskId, path)
}

/** Makes or restores a task's workspace. If that throws, what it left incomplete is removed at once, to free its space. */
export async function madeWhole<T>(
  { root, path, logger }: { readonly root: string; readonly path: string; readonly logger: Logger },
  {
    taskId,
    signal,
    close,
  }: {
    readonly taskId: string
    readonly signal: AbortSignal
    /** Ends what runs in it. */
    readonly close?: (() => Promise<void>) | undefined
  },
  make: () => Promise<T>,
): Promise<T> {
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
}

/**
 * Whether a new workspace already has all that the evicted one had, because it was pushed; the saved snapshot may be older. The agent's sessions
 * are in the home that was kept. If not, something else is restored, and the evicted head is forgotten, so that it is never compared again.
 */
export async function goesOnAsEvicted(
  { git, root }: { readonly git: Git; readonly root: string },
  { taskId, pendingRestore }: Pick<LiveTask, 'taskId' | 'pendingRestore'>,
  {
    workspace: { privateGitDir: gitDir, startCommit },
    isOnPushedBranch,
  }: { readonly workspace: Workspace; readonly isOnPushedBranch: boolean },
): Promise<boolean> {
  const head = await evictedHead(root, taskId)
  if (head === null) return false
  if (pendingRestore === null && isOnPushedBranch && startCommit !== null) {
    const args = ['merge-base', '--is-ancestor', head, startCommit]
    if (endedWell(await git({ gitDir, args }))) return true
  }
  await forgetEvictedHead(root, taskId)
  return false
}
