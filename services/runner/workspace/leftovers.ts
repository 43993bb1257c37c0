/** What a runner that was killed left in its workspaces: half-made things of ours, and locks of agents that are gone. */
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Where agents' CLIs keep their locks, in a home. */
const locksAt = ['.claude', '.cursor'] as const
const deepest = 4

/** Takes it away in all workspaces below `root`. Nothing may run in any of them; no link that an agent made is followed. */
export async function removeLeftovers(root: string): Promise<void> {
  const tasks = join(root, 'tasks')
  for (const name of await namesIn(tasks)) {
    const gitDir = join(tasks, name, 'git')
    const ofGit = (await namesIn(gitDir)).filter((one) => one.startsWith('scratch-') || one.endsWith('.lock'))
    for (const one of ofGit) await rm(join(gitDir, one), { recursive: true, force: true })
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

/** Of a plain folder; of anything else, none. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const found = await lstat(folder).catch(() => undefined)
  return found?.isDirectory() === true ? readdir(folder) : []
}
