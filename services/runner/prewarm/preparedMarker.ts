/**
 * The marker file beside a workspace that no task has yet, or that none will have. A process that finds such a file when it starts removes the file
 * and the workspace: nobody knows any more what the workspace was made for.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspaceDeps } from '../deps.ts'
import { removeWorkspace } from '../workspace/workspace.ts'

const suffix = '.ahead'

const markerOf = (root: string, taskId: string): string => join(root, 'tasks', `${taskId}${suffix}`)

/** Marks a workspace before it is made. */
export async function markAhead(root: string, taskId: string): Promise<void> {
  await mkdir(join(root, 'tasks'), { recursive: true })
  await writeFile(markerOf(root, taskId), '')
}

/** Removes the marker file, because a task takes the workspace. */
export async function unmarkAhead(root: string, taskId: string): Promise<void> {
  await rm(markerOf(root, taskId), { force: true })
}

/** Removes a workspace with its marker file. Nothing may run in the workspace. */
export async function removeAhead(
  { root, path }: Pick<WorkspaceDeps, 'root' | 'path'>,
  taskId: string,
): Promise<void> {
  await removeWorkspace(root, taskId, path)
  await unmarkAhead(root, taskId)
}

/** Removes all workspaces with a marker file. */
export async function removeAllAhead(deps: Pick<WorkspaceDeps, 'root' | 'path'>): Promise<void> {
  const found = await readdir(join(deps.root, 'tasks')).catch(() => [])
  for (const name of found) if (name.endsWith(suffix)) await removeAhead(deps, name.slice(0, -suffix.length))
}
