/** What Linux tells about a process and all that it started. Everywhere else there is nothing to tell. */
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** The process and its descendants, parents first; empty when it is gone. */
export async function processTree(pid: number): Promise<readonly number[]> {
  const found = [pid]
  for (const parent of found) found.push(...(await childrenOf(parent)))
  return (await isAlive(pid)) ? found : []
}

/** More open files than this are not looked through; a sandbox has no use for so many. */
const maxDescriptors = 100_000
/** How many are looked at together, so that this process's other reads of files do not wait for long. */
const atOnce = 64
/** Processes that hide their descriptors are asked again so often, all together, and after so long. */
const maxTries = 50
const retryMs = 20

/**
 * Memory that the processes hold, in bytes: what each has for itself, resident or swapped, and memory that is shared among them or has only a
 * descriptor (memfd, anonymous shared mappings, System V), each counted once. It leaves out files in `/tmp` and `/dev/shm`, and memory that is in
 * transit through a socket or detached: a sandbox whose memory is counted in this way cannot make such. All threads of a process share one table of
 * open files, since the sandbox's filter refuses another. `Infinity` if there is too much to be looked through, or a living process cannot be
 * looked into.
 */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  let own = 0
  let looked = 0
  const patience = { tries: maxTries }
  const shared = new Map<string, number>()
  for (const pid of pids) {
    const folder = await livingThread(pid)
    const opened = await openedBy(pid, folder, patience)
    if (opened === 'closed') return Infinity
    const status = await read(`${folder}/status`)
    for (const [, size] of status.matchAll(/^(?:RssAnon|VmSwap):\s+(\d+) kB$/gm)) own += Number(size) * 1_024
    looked += opened.length
    if (looked > maxDescriptors) return Infinity
    await addShared(
      shared,
      opened.map((name) => `${folder}/fd/${name}`),
    )
    // A mapping outlives the descriptor that it was made with.
    const mapped = (await read(`${folder}/maps`)).matchAll(sharedMapping)
    const ranges = [...mapped].map(
      ([, from = '', to = '']) => `/proc/${pid}/map_files/${short(from)}-${short(to)}`,
    )
    looked += ranges.length
    if (looked > maxDescriptors) return Infinity
    const found = await addShared(shared, ranges)
    // Without the right to look into mappings, their resident part counts for each process that has it.
    if (found < ranges.length)
      for (const [, size] of status.matchAll(/^RssShmem:\s+(\d+) kB$/gm)) own += Number(size) * 1_024
  }
  return [...shared.values()].reduce((sum, bytes) => sum + bytes, own)
}

/** The folder in /proc that describes the process: once its first thread has ended, only those of its other threads do. */
async function livingThread(pid: number): Promise<string> {
  const process = `/proc/${pid}`
  if ((await factsOf(process))?.state !== 'Z') return process
  for (const thread of await readdir(`${process}/task`).catch(() => [])) {
    const folder = `${process}/task/${thread}`
    const facts = await factsOf(folder)
    if (facts && facts.state !== 'Z' && facts.state !== 'X') return folder
  }
  return process
}

/**
 * The descriptors; `closed` if the process lives and hides them, prctl(2), PR_SET_DUMPABLE. One that starts a sandbox or becomes another program
 * hides them for a moment, which lasts on a busy machine: `patience` is what all processes of one look may still be waited for.
 */
async function openedBy(
  pid: number,
  folder: string,
  patience: { tries: number },
): Promise<readonly string[] | 'closed'> {
  for (;;) {
    const found = await readdir(`${folder}/fd`).catch((fault: unknown) =>
      fault instanceof Error && 'code' in fault && fault.code === 'EACCES' ? ('closed' as const) : [],
    )
    if (found !== 'closed') return found
    if (!(await isAlive(pid))) return []
    if (patience.tries === 0) return 'closed'
    patience.tries -= 1
    await delay(retryMs)
  }
}

/** Names in /proc that stand for memory. No file has such a name: a file's path begins with a folder that exists. */
const isMemory = /^\/(?:memfd:|dev\/zero \(deleted\)$|SYSV[0-9a-f]{8})/
/** Lines of /proc/<pid>/maps with any permissions: even one page that is mapped privately keeps the whole. */
const sharedMapping =
  /^([0-9a-f]+)-([0-9a-f]+) ..?.?[sp] \S+ \S+ \d+ +\/(?:memfd:|dev\/zero \(deleted\)|SYSV)/gm
/** Names in map_files have no zeros in front. */
const short = (address: string): string => address.replace(/^0+(?=.)/, '')

/** How many of the paths could be looked at. */
async function addShared(shared: Map<string, number>, paths: readonly string[]): Promise<number> {
  let found = 0
  for (let from = 0; from < paths.length; from += atOnce) {
    const looked = await Promise.all(paths.slice(from, from + atOnce).map((path) => addOne(shared, path)))
    found += looked.filter(Boolean).length
  }
  return found
}

async function addOne(shared: Map<string, number>, path: string): Promise<boolean> {
  const target = await readlink(path).catch(() => undefined)
  if (target === undefined) return false
  if (!isMemory.test(target)) return true
  const found = await stat(path).catch(() => undefined)
  if (found) shared.set(`${found.dev}:${found.ino}`, found.blocks * 512)
  return found !== undefined
}

/** Tells this process from a later one of the same id; `undefined` when none runs, also where a dead one waits to be reaped. */
export async function birthOf(pid: number): Promise<string | undefined> {
  const facts = await factsOf(`/proc/${pid}`)
  return facts?.isAlive === true ? facts.birth : undefined
}

export interface ProcessFacts {
  readonly birth: string
  readonly isAlive: boolean
  /** By its letter in /proc. */
  readonly state: string
}

/** A process or a thread, by its folder in /proc: when it began and whether it still runs; `undefined` when there is none. */
export async function factsOf(folder: string): Promise<ProcessFacts | undefined> {
  // The name, in brackets, may hold anything; the state comes after it, the threads and the start time are 17 and 19 fields further.
  const stat = await read(`${folder}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', threads, birth] = [fields[0], Number(fields[17]), fields[19]]
  if (birth === undefined) return undefined
  // One whose first thread has ended looks dead while its other threads go on.
  return { birth, state, isAlive: (state !== 'Z' && state !== 'X') || threads > 1 }
}

/** The children of a process, also those that came to it when their parents ended. */
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
