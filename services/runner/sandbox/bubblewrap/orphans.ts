/**
 * Ends sandboxes that outlived their runner. bubblewrap ties a sandbox to its parent only once the sandbox is complete. So if the runner is killed
 * before that, the sandbox is left behind.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { signalProcess } from '#platform/childProcess.ts'
import { sandboxPaths } from '../layout.ts'

/** Ends every sandbox that uses a workspace below `root`. Must be called before any sandbox is made, when none may be alive. */
export async function endOrphanedSandboxes(root: string): Promise<void> {
  const pids = await bubblewraps()
  if (pids.length === 0) return
  const tasks = join(root, 'tasks')
  const names = await readdir(tasks).catch(() => [])
  const trees = new Set(await Promise.all(names.map((name) => identityOf(join(tasks, name, 'tree')))))
  for (const pid of pids) {
    // Every process in a sandbox, even the first, has the workspace's tree at `sandboxPaths.tree`. So the tree tells whether the sandbox is one of
    // ours.
    const tree = await identityOf(`/proc/${pid}/root${sandboxPaths.tree}`)
    if (tree !== undefined && trees.has(tree)) signalProcess(pid, 'SIGKILL')
  }
}

async function bubblewraps(): Promise<readonly number[]> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter(Number.isSafeInteger)
  const found: number[] = []
  for (const pid of pids) {
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    if (name.trim() === 'bwrap') found.push(pid)
  }
  return found
}

/** A value that identifies a folder on this machine, by whatever path it is accessed. */
async function identityOf(folder: string): Promise<string | undefined> {
  const found = await stat(folder).catch(() => undefined)
  return found && `${found.dev}:${found.ino}`
}
