/** Finds the processes of this machine that belong to a product under test, by its folder. Linux only; elsewhere none is found. */
import { readdir, readFile, readlink } from 'node:fs/promises'

/** A living process. */
export interface Found {
  readonly pid: number
  readonly command: string
  /** The time of its start, in clock ticks since the machine started. */
  readonly startedAt: number
}

/**
 * The processes that have the folder in their arguments, environment, working directory or mounts. A sandbox is found by its mounts, even if its
 * parent is gone; a process that only waits to be reaped is not alive. `folder` is a path, or the end of one if that identifies it. The oldest
 * process comes first, whatever its number, because the kernel begins again with small numbers when it has used the large ones.
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
  // Kernel threads and dead processes have no arguments.
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

/** The start time is the 22nd field; the name of the program, in parentheses, may contain spaces. */
function startOf(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}
