/** The free memory for this process: that of the machine, or of its control group if that has less. */
import { readFile } from 'node:fs/promises'
import { freemem } from 'node:os'
import { dirname, join } from 'node:path'

/** Reads a file of the kernel; `undefined` when that fails. */
export type ReadFile = (path: string) => Promise<string | undefined>

const fromKernel: ReadFile = (path) => readFile(path, 'utf8').catch(() => undefined)

/** The bytes that can be used without swapping. Page cache counts as free, since the kernel gives it up. */
export async function freeMemory(read: ReadFile = fromKernel): Promise<number> {
  const [machine, ...groups] = await Promise.all([freeOfMachine(read), ...(await groupsOf(read))])
  return Math.max(0, Math.min(machine, ...groups))
}

async function freeOfMachine(read: ReadFile): Promise<number> {
  const kilobytes = /^MemAvailable: +(\d+) kB$/m.exec((await read('/proc/meminfo')) ?? '')?.[1]
  return kilobytes === undefined ? freemem() : Number(kilobytes) * 1_024
}

/** Names of files in a control group, by version of cgroups(7). */
const version1 = {
  mount: '/sys/fs/cgroup/memory',
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  cache: 'total_inactive_file',
} as const
const version2 = {
  mount: '/sys/fs/cgroup',
  limit: 'memory.max',
  used: 'memory.current',
  cache: 'inactive_file',
} as const

/** The free memory in this process's own control group, and in each group that contains it. */
async function groupsOf(read: ReadFile): Promise<readonly Promise<number>[]> {
  const lines = ((await read('/proc/self/cgroup')) ?? '').split('\n')
  return lines.flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    const files =
      controllers === '' ? version2 : controllers?.split(',').includes('memory') ? version1 : undefined
    // In a container, `path` may be the path on the host, while the mount has the container's own group at its root. So all parents of the path are
    // tried, too.
    return files === undefined || path === undefined
      ? []
      : withParents(path).map((one) => freeOfGroup(read, files, one))
  })
}

function withParents(path: string): readonly string[] {
  return path === '/' ? [path] : [path, ...withParents(dirname(path))]
}

async function freeOfGroup(
  read: ReadFile,
  files: typeof version1 | typeof version2,
  path: string,
): Promise<number> {
  const folder = join(files.mount, path)
  const [limit, used, stat = ''] = await Promise.all([
    read(join(folder, files.limit)),
    read(join(folder, files.used)),
    read(join(folder, 'memory.stat')),
  ])
  // A group without a limit has `max`, or a number above all memory of the machine.
  if (limit === undefined || used === undefined || limit.trim() === 'max') return Number.POSITIVE_INFINITY
  const cache = new RegExp(`^${files.cache} (\\d+)$`, 'm').exec(stat)?.[1] ?? '0'
  return Number(limit) - Number(used) + Number(cache)
}
