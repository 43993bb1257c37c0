/** Removes what a killed runner has left in workspaces. */
import { lstat, opendir, readdir, rm } from 'node:fs/promises'
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
/** How many entries are looked at below each of these folders, since an agent can make any number of them. */
const mostEntries = 20_000

/**
 * Removes what a killed runner has left in the workspaces below `root`: incomplete files of ours, and locks of agents that have ended. Nothing may
 * run in these workspaces. Links that an agent made are not followed, and of each of an agent's folders `most` entries are looked at.
 */
export async function removeLeftovers(root: string, most = mostEntries): Promise<void> {
  const tasks = join(root, 'tasks')
  for (const name of await namesIn(tasks)) {
    const gitDir = join(tasks, name, 'git')
    const ofGit = (await namesIn(gitDir)).filter((one) => one.startsWith('scratch-') || one.endsWith('.lock'))
    for (const one of ofGit) await rm(join(gitDir, one), { recursive: true, force: true })
    const objects = join(gitDir, 'objects')
    if ((await namesIn(join(objects, 'pack'))).length > 0) await removeHalfPacks(objects)
    const home = join(tasks, name, 'home')
    await removeLocks(home, 1, { entries: most })
    for (const folder of locksAt) await removeLocks(join(home, folder), deepest, { entries: most })
  }
}

async function removeLocks(folder: string, depth: number, left: { entries: number }): Promise<void> {
  if ((await lstat(folder).catch(() => undefined))?.isDirectory() !== true) return
  for await (const entry of (await opendir(folder).catch(() => undefined)) ?? []) {
    if (left.entries === 0) return
    left.entries -= 1
    const path = join(folder, entry.name)
    if (entry.name.endsWith('.lock')) await rm(path, { recursive: true, force: true })
    else if (depth > 1 && entry.isDirectory()) await removeLocks(path, depth - 1, left)
  }
}

/** The names in a plain folder; none for anything else. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const found = await lstat(folder).catch(() => undefined)
  return found?.isDirectory() === true ? readdir(folder) : []
}
