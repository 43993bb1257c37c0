/** What Linux tells about a process and all that it started. Everywhere else there is nothing to tell. */
import { readdir, readFile, readlink, stat } from 'node:fs/promises'

/** The process and its descendants, parents first; empty when it is gone. */
export async function processTree(pid: number): Promise<readonly number[]> {
  const found = [pid]
  for (const parent of found) found.push(...(await childrenOf(parent)))
  return (await isAlive(pid)) ? found : []
}

/** More open files than this are not looked through; a box has no use for so many. */
const mostDescriptors = 100_000

/**
 * Memory that the processes hold: what each has for itself, resident or swapped, and memory that is shared among them or has only a
 * descriptor (memfd, anonymous shared mappings, System V), each once; bytes. Files in `/tmp` and `/dev/shm` are not among it. What is on its
 * way through a socket is seen by nobody. `Infinity` where there is too much to be looked through.
 */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  let own = 0
  let looked = 0
  const shared = new Map<string, number>()
  for (const pid of pids) {
    const status = await read(`/proc/${pid}/status`)
    for (const [, size] of status.matchAll(/^(?:RssAnon|VmSwap):\s+(\d+) kB$/gm)) own += Number(size) * 1_024
    const opened = await readdir(`/proc/${pid}/fd`).catch(() => [])
    looked += opened.length
    if (looked > mostDescriptors) return Infinity
    await addShared(
      shared,
      opened.map((name) => `/proc/${pid}/fd/${name}`),
    )
    // A mapping outlives the descriptor that it was made with.
    const mapped = (await read(`/proc/${pid}/maps`)).matchAll(sharedMapping)
    const ranges = [...mapped].map(
      ([, from = '', to = '']) => `/proc/${pid}/map_files/${short(from)}-${short(to)}`,
    )
    looked += ranges.length
    if (looked > mostDescriptors) return Infinity
    const found = await addShared(shared, ranges)
    // Without the right to look into mappings, what is resident of them counts for each that has it.
    if (found < ranges.length)
      for (const [, size] of status.matchAll(/^RssShmem:\s+(\d+) kB$/gm)) own += Number(size) * 1_024
  }
  return [...shared.values()].reduce((sum, bytes) => sum + bytes, own)
}

/** What is memory by its name in /proc: no file of a file system is called so, as their paths begin with a folder that is there. */
const isMemory = /^\/(?:memfd:|dev\/zero \(deleted\)$|SYSV[0-9a-f]{8})/
/** Of /proc/<pid>/maps, whatever may be done with it: also one page that is mapped privately keeps the whole. */
const sharedMapping =
  /^([0-9a-f]+)-([0-9a-f]+) ..?.?[sp] \S+ \S+ \d+ +\/(?:memfd:|dev\/zero \(deleted\)|SYSV)/gm
/** Names in map_files have no zeros in front. */
const short = (address: string): string => address.replace(/^0+(?=.)/, '')

/** How many of the paths could be looked at. */
async function addShared(shared: Map<string, number>, paths: readonly string[]): Promise<number> {
  const looked = await Promise.all(
    paths.map(async (path) => {
      const target = await readlink(path).catch(() => undefined)
      if (target === undefined) return false
      if (!isMemory.test(target)) return true
      const found = await stat(path).catch(() => undefined)
      if (found) shared.set(`${found.dev}:${found.ino}`, found.blocks * 512)
      return found !== undefined
    }),
  )
  return looked.filter(Boolean).length
}

/** Tells this process from a later one of the same id; `undefined` when none runs, also where a dead one waits to be reaped. */
export async function birthOf(pid: number): Promise<string | undefined> {
  const facts = await factsOf(pid)
  return facts?.isAlive === true ? facts.birth : undefined
}

/** When a process began and whether it still runs; `undefined` when there is none of that id. */
export async function factsOf(
  pid: number,
): Promise<{ readonly birth: string; readonly isAlive: boolean } | undefined> {
  // The name, in brackets, may hold anything; the state comes after it, the threads and the start time are 17 and 19 fields further.
  const stat = await read(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, threads, birth] = [fields[0], Number(fields[17]), fields[19]]
  if (birth === undefined) return undefined
  // One whose first thread has ended looks dead while its other threads go on.
  return { birth, isAlive: (state !== 'Z' && state !== 'X') || threads > 1 }
}

/** Those that a process has begun, or that came to it when their parents ended. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const listed = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)))
  return listed.flatMap((text) => text.split(' ').filter(Boolean).map(Number))
}

async function isAlive(pid: number): Promise<boolean> {
  return (await birthOf(pid)) !== undefined
}

async function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
