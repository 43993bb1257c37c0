/** Removes what a killed runner has left in workspaces. */
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { agents } from '../agents/registry.ts'
import { removeHalfPacks } from './git/repositoryLayout.ts'

/** The folders of a home that are searched for locks of agents' CLIs. */
const locksAt = new Set(
  Object.values(agents).flatMap(({ sessionFolders }) =>
    sessionFolders.map((path) => path.split('/', 1).join('')),
  ),
)
const deepest = 4

/**
 * Removes what a killed runner has left in the workspaces below `root`: incomplete files of ours, and locks of agents that have ended. Nothing may
 * run in these workspaces. Links that an agent made are not followed.
 */
export async function removeLeftovers(root: string): Promise<void> {
  const tasks = join(root, 'tasks')
  for (const name of await namesIn(tasks)) {
    const gitDir = join(tasks, name, 'git')
    const ofGit = (await namesIn(gitDir)).filter((one) => one.startsWith('scratch-') || one.endsWith('.lock'))
    for (const one of ofGit) await rm(join(gitDir, one), { recursive: true, force: true })
    const objects = join(gitDir, 'objects')
    if ((await namesIn(join(objects, 'pack'))).length > 0) await removeHalfPacks(objects)
    const home = join(tasks, name, 'home')
    for (const one of (await namesIn(home)).filter((one) => one.endsWith('.lock')))
      await rm(join(home, one), { recursive: true, force: true })
    for (const folder of locksAt) await removeLocks(join(home, folder), deepest)
  }
}

async function removeLocks(folder: string, depth: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    if (name.endsWith('.lock')) await rm(path, { recursive: true, force: true })
    else if (depth > 1) await removeLocks(path, depth - 1)
  }
}

/** The names in a plain folder; none for anything else. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const found = await lstat(folder).catch(() => undefined)
  return found?.isDirectory() === true ? readdir(folder) : []
}
