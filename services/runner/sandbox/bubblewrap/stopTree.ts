/**
 * Stops a tree of processes so that none of them can change a file, and ends every process in it that was not there from the start. Processes that
 * may stay are identified by their start time, never by a name, since any process can take any name.
 */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { signalProcess } from '#platform/childProcess.ts'
import { childrenOf, factsOf } from '../processTree.ts'

/** A process, identified so that a later process with the same id is not mistaken for it. */
export interface Known {
  readonly pid: number
  readonly birth: string
}

/** A tree that cannot be frozen within this time is ended as a whole. */
const freezeTimeoutMs = 5_000
/** For this time, new processes are only stopped: killing one would make room for another under the process limit. */
const onlyStoppedMs = 1_000

/**
 * Kills every process below `root` except those in `staying`, which it stops. Returns true when nothing below
 * `root` can run before `thaw`, and false when one of `staying` has ended or the others cannot be killed in time.
 *
 * This is sound even if processes start others meanwhile. A parent's list of children is read in order and under
 * the kernel's lock, and an orphan is added to the end of the list of `root`: so every living process is in some
 * list. Processes that stay are stopped and start nothing. So if two searches in a row find no other processes,
 * there are none.
 *
 * Programs of `exec` are not below `root`. Each of them is below its keeper (sandbox/programKeeper.ts), whose parent
 * is outside of the sandbox, and what such a program leaves behind becomes a child of the keeper. So these programs go
 * on, and may change files. Nothing of the command gets below a keeper, since a process only gets a parent by being
 * started or orphaned. If a keeper is killed, everything below it becomes an orphan of `root`, and is ended.
 */
export async function freeze(root: number, staying: readonly Known[]): Promise<boolean> {
  const begun = performance.now()
  const stopped = new Set<number>()
  const dead = new Set<string>()
  for (const { pid } of staying) signalProcess(pid, 'SIGSTOP')
  for (let emptyLooks = 0; performance.now() < begun + freezeTimeoutMs;) {
    const others = await othersBelow(root, staying, dead)
    if (others === 'one_is_gone') return false
    emptyLooks = others.length === 0 ? emptyLooks + 1 : 0
    if (emptyLooks >= 2 && (await areStopped(staying.map(({ pid }) => pid)))) return true
    const areNew = others.some((pid) => !stopped.has(pid))
    for (const pid of others) {
      signalProcess(pid, 'SIGSTOP')
      stopped.add(pid)
    }
    if (!areNew || performance.now() > begun + onlyStoppedMs)
      for (const pid of others) signalProcess(pid, 'SIGKILL')
    if (!areNew) await delay(1)
  }
  return false
}

/**
 * Ends the process `root` with everything below it. Orphans below `root` must become its children. Returns false when this takes too long; some of
 * the processes may then still run.
 */
export async function endTree(root: number): Promise<boolean> {
  // While `root` is stopped, it cannot start a process that the search would miss.
  signalProcess(root, 'SIGSTOP')
  const begun = performance.now()
  while (!(await areStopped([root]))) {
    if (performance.now() > begun + freezeTimeoutMs) return false
    await delay(1)
  }
  const isRid = await freeze(root, [])
  signalProcess(root, 'SIGKILL')
  return isRid
}

/** Lets the processes `staying`, which were stopped, continue. */
export function thaw(staying: readonly Known[]): void {
  for (const { pid } of staying) signalProcess(pid, 'SIGCONT')
}

/**
 * Lists the processes below `root` that may have children or still run, except those in `staying`. Returns `one_is_gone` when one in `staying` has
 * ended. A dead process counts the first time that it is found dead, since it may have started another process before. `dead` has the processes that
 * earlier searches found dead; this search adds its own.
 */
export async function othersBelow(
  root: number,
  staying: readonly Known[],
  dead: Set<string>,
): Promise<readonly number[] | 'one_is_gone'> {
  const births = new Map(staying.map(({ pid, birth }) => [pid, birth]))
  const found = [root]
  for (const parent of found) found.push(...(await childrenOf(parent)))
  const others: number[] = []
  for (const pid of found.slice(1)) {
    const facts = await factsOf(`/proc/${pid}`)
    const birth = births.get(pid)
    if (birth !== undefined && facts?.birth === birth && facts.isAlive) births.delete(pid)
    else if (facts === undefined || facts.isAlive) others.push(pid)
    else if (!dead.has(`${pid} ${facts.birth}`)) {
      dead.add(`${pid} ${facts.birth}`)
      others.push(pid)
    }
  }
  return births.size > 0 ? 'one_is_gone' : others
}

/** Whether all threads are stopped. A stop signal takes effect in each thread only when that thread leaves the kernel, so every thread is checked. */
async function areStopped(pids: readonly number[]): Promise<boolean> {
  for (const pid of pids)
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => '')
      if (!/^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return false
    }
  return true
}
