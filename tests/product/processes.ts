/** Which processes of this machine belong to a product under test: those that know its folder. Linux only; elsewhere none is seen. */
import { readdir, readFile, readlink } from 'node:fs/promises'

/** A process that is alive. */
export interface Found {
  readonly pid: number
  readonly command: string
  /** In clock ticks since the machine started. */
  readonly startedAt: number
}

/**
 * Processes that have the folder in their arguments, environment, working directory or mounts. A sandbox is seen by its mounts, also when
 * its parent is gone; what waits to be reaped is not alive. `folder` is a path, or its end when that alone tells it from others. The oldest
 * comes first, whatever its number: the kernel begins anew with small numbers when it has used the large ones.
 */
export async function processesOf(folder: string): Promise<readonly Found[]> {
  const listed = await readdir('/proc').catch(() => [])
  const pids = listed.filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.filter((pid) => pid !== process.pid).map((pid) => ofFolder(pid, folder)),
  )
  return found
    .flatMap((one) => (one === undefined ? [] : [one]))
    .toSorted((one, other) => one.startedAt - other.startedAt)
}

async function ofFolder(pid: number, folder: string): Promise<Found | undefined> {
  const at = `/proc/${pid}`
  const cmdline = await textOf(`${at}/cmdline`)
  // Kernel threads and the dead have no arguments.
  if (cmdline === '') return undefined
  const [stat, ...rest] = await Promise.all([
    textOf(`${at}/stat`),
    textOf(`${at}/environ`),
    readlink(`${at}/cwd`).catch(() => ''),
    textOf(`${at}/mountinfo`),
  ])
  const command = cmdline.replaceAll('\0', ' ').trim()
  if (![cmdline, ...rest].some((text) => text.includes(folder))) return undefined
  return { pid, command, startedAt: startOf(stat) }
}

/** The 22nd field; the name of the program, in parentheses, may have spaces of its own. */
function startOf(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}
