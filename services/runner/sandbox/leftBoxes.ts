/**
 * Boxes that outlived the runner that made them. Bubblewrap ties a box to who made it only once the box stands: killed while
 * it is being made, a runner leaves it behind.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { signalProcess } from '../process.ts'
import { boxPaths } from './boxPlaces.ts'

/** Ends every box that works in a workspace below `root`. To be called before any is made: there is none then that may live. */
export async function endLeftBoxes(root: string): Promise<void> {
  const boxes = await bubblewraps()
  if (boxes.length === 0) return
  const tasks = join(root, 'tasks')
  const names = await readdir(tasks).catch(() => [])
  const trees = new Set(await Promise.all(names.map((name) => identityOf(join(tasks, name, 'tree')))))
  for (const pid of boxes) {
    // The first process of a box sees the workspace where everything in the box does.
    const seen = await identityOf(`/proc/${pid}/root${boxPaths.tree}`)
    if (seen !== undefined && trees.has(seen)) signalProcess(pid, 'SIGKILL')
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

/** Tells a folder from all others of this machine, by whatever path it is seen. */
async function identityOf(folder: string): Promise<string | undefined> {
  const found = await stat(folder).catch(() => undefined)
  return found && `${found.dev}:${found.ino}`
}
