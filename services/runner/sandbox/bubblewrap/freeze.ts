/**
 * Stops a tree of processes so that nothing of it can change a file, and ends everything in it that was not there from the start. Processes that
 * may stay are told by when they were born, never by a name, which any process can take.
 */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { signalProcess } from '#platform/childProcess.ts'
import { childrenOf, factsOf } from '../processTree.ts'

/** One process, told from a later one of the same id. */
export interface Known {
  readonly pid: number
  readonly birth: string
}

/** A tree that cannot be frozen within this time is ended as a whole. */
const freezeTimeoutMs = 5_000
/** New processes are only stopped for up to this time, since killing one makes room for another under the process limit. */
const onlyStoppedMs = 1_000

/**
 * Kills every process below `root` except those in `staying`, which it stops. Returns true when nothing below `root` can run before `thaw`, and
 * false when one of `staying` is gone or the others cannot be killed in time.
 *
 * It is sound against processes that start others while it looks. A parent's list of children is read in order and under the kernel's lock, and an
 * orphan is added to the end of the list of `root`: so every living process is in some list. Those that stay are stopped and start nothing. So two
 * looks in a row that find nobody else have missed nobody.
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
    if (emptyLooks >= 2 && (await areStopped(staying))) return true
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

/** Lets those that stayed run on. */
export function thaw(staying: readonly Known[]): void {
  for (const { pid } of staying) signalProcess(pid, 'SIGCONT')
}

/**
 * Processes that are alive, or were when their parent's children were listed: one that has ended since may have started another. So a dead one
 * counts until it is in `dead`, which names those that an earlier look found dead; this look adds its own.
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

/** A stop signal takes effect in each thread only when that leaves the kernel, so every thread is checked. */
async function areStopped(staying: readonly Known[]): Promise<boolean> {
  for (const { pid } of staying)
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => '')
      if (!/^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return false
    }
  return true
}
