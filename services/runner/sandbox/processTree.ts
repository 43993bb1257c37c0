/** Reads what Linux reports about a process and everything that it started. On other systems, every result is empty. */
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** The process and its descendants, parents first; empty when the process has ended. */
export async function processTree(pid: number): Promise<readonly number[]> {
  const found = [pid]
  for (const parent of found) found.push(...(await childrenOf(parent)))
  return (await isAlive(pid)) ? found : []
}

/**
 * Like `processTree`, for a few processes; empty when one of them has just ended. Synchronous, as it takes microseconds and an agent waits for it.
 */
export function fewProcesses(pid: number): readonly number[] {
  const found = [pid]
  try {
    for (const parent of found)
      for (const thread of readdirSync(`/proc/${parent}/task`)) {
        const listed = readFileSync(`/proc/${parent}/task/${thread}/children`, 'utf8')
        found.push(...listed.split(' ').filter(Boolean).map(Number))
      }
  } catch {
    // One of them has just ended, so what was found is not the whole tree.
    return []
  }
  return found
}

/** How many open files and mappings are inspected at most, for all processes together; a sandbox does not need more. */
const maxDescriptors = 100_000
/** How many descriptors or mappings are inspected at once, so that other file reads of this process do not wait long. */
const atOnce = 64
/** How often hidden descriptors are read again, for all processes together; `retryMs` is the pause before each time. */
const maxTries = 50
const retryMs = 20

/**
 * The memory of the processes in bytes, resident or swapped. Memory that processes share, or that only a descriptor holds (memfd, anonymous shared
 * mappings, System V), counts once; files, such as those in `/tmp` and `/dev/shm`, do not count. Memory on its way through a socket and System V
 * segments that no process has attached cannot be seen here, so the filter of system calls refuses memfds and all but small segments. The filter also
 * makes all threads of a process share their open files, so only one thread's are read. Returns `Infinity` if there is too much to inspect, or if a
 * living process cannot be inspected.
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
    // Shared memory can stay mapped after its descriptor is closed, so the mappings are searched as well.
    const mapped = (await read(`${folder}/maps`)).matchAll(sharedMapping)
    const ranges = [...mapped].map(
      ([, from = '', to = '']) => `/proc/${pid}/map_files/${short(from)}-${short(to)}`,
    )
    looked += ranges.length
    if (looked > maxDescriptors) return Infinity
    const found = await addShared(shared, ranges)
    // Without permission to inspect a mapping, its resident part counts once for each process that has the mapping.
    if (found < ranges.length)
      for (const [, size] of status.matchAll(/^RssShmem:\s+(\d+) kB$/gm)) own += Number(size) * 1_024
  }
  return [...shared.values()].reduce((sum, bytes) => sum + bytes, own)
}

/** The folder in /proc for a process. When its first thread has ended, only the folders of the other threads describe it. */
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
 * The descriptors of a process; `closed` if the process lives and hides them (PR_SET_DUMPABLE of prctl(2)). A process that starts a sandbox or
 * becomes another program hides them for a moment, which is longer on a busy machine. `patience` is the number of tries that are left for all
 * processes.
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

/** Names in /proc that stand for memory. No file has such a name, because a sandbox can make no file in `/` or in `/dev`. */
const isMemory = /^\/(?:memfd:|dev\/zero \(deleted\)$|SYSV[0-9a-f]{8})/
/** Lines of /proc/<pid>/maps about shared memory. Private mappings are included, because one privately mapped page keeps all of the shared memory. */
const sharedMapping =
  /^([0-9a-f]+)-([0-9a-f]+) ..?.?[sp] \S+ \S+ \d+ +\/(?:memfd:|dev\/zero \(deleted\)|SYSV)/gm
/** The address as the names in /proc/<pid>/map_files write it, without leading zeros. */
const short = (address: string): string => address.replace(/^0+(?=.)/, '')

/** Adds the sizes of the shared memory at `paths`. Returns how many paths could be inspected. */
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

/**
 * A value that distinguishes this process from a later one with the same id. `undefined` when the process has ended, even if it was not reaped yet.
 */
export async function birthOf(pid: number): Promise<string | undefined> {
  const facts = await factsOf(`/proc/${pid}`)
  return facts?.isAlive === true ? facts.birth : undefined
}

export interface ProcessFacts {
  readonly birth: string
  readonly isAlive: boolean
  /** The state's letter in /proc. */
  readonly state: string
}

/**
 * Facts about a process or a thread from its folder in /proc: when it began, its state, and whether its process still runs; `undefined` when it does
 * not exist.
 */
export async function factsOf(folder: string): Promise<ProcessFacts | undefined> {
  // The name, in brackets, may contain anything. The state comes after it; the threads and the start time are 17 and 19 fields after the state.
  const stat = await read(`${folder}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', threads, birth] = [fields[0], Number(fields[17]), fields[19]]
  if (birth === undefined) return undefined
  // A process whose first thread has ended looks dead while its other threads continue.
  return { birth, state, isAlive: (state !== 'Z' && state !== 'X') || threads > 1 }
}

/** The children of a process, including processes that became its children when their own parents ended. */
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
