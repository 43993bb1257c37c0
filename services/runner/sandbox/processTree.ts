/** What Linux tells about a process and all that it started. Everywhere else there is nothing to tell. */
import { readdir, readFile } from 'node:fs/promises'

/** The process and its descendants, parents first; empty when it is gone. */
export async function processTree(pid: number): Promise<readonly number[]> {
  const found = [pid]
  for (const parent of found) found.push(...(await childrenOf(parent)))
  return (await isAlive(pid)) ? found : []
}

/** Memory that the processes hold for themselves: resident or swapped, private or shared among them; bytes. */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  let kibibytes = 0
  for (const pid of pids) {
    const status = await read(`/proc/${pid}/status`)
    for (const [, size] of status.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm))
      kibibytes += Number(size)
  }
  return kibibytes * 1024
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
