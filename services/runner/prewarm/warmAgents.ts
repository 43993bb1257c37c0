/** Agents that wait in their sandboxes for a message of their task, so that the task need not wait for their start. */
import type { AgentProcess } from '../execution/turn/agentProcess.ts'
import type { DiskWatch } from '../workspace/diskWatch.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { freeMemory } from './freeMemory.ts'

/** The values that an agent must have in common with a turn to serve it. */
export interface Fingerprint {
  /** Equal for agents that were started in the same way: see `startFingerprint`. */
  readonly setup: string
  /** The session of the agent; `null` before its first turn. */
  readonly session: string | null
}

export interface WarmAgents {
  /** Whether an agent may be kept now. If the limit is reached already, keeping it ends the oldest agent. */
  hasRoom(): Promise<boolean>
  /** Returns the waiting agent of this task if it is alive and matches `needed`. Ends an agent that does not match, and returns `undefined`. */
  take(taskId: string, needed: Fingerprint): Promise<AgentProcess | undefined>
  /** Thaws the waiting agent of this task, because a turn begins. */
  thaw(taskId: string): void
  /** Freezes the agent again if it was thawed and not taken. Ends the agent if it cannot be frozen. */
  freeze(taskId: string): Promise<void>
  /** The workspace of the agent that has waited for this task since its last turn; `undefined` when no agent waits. */
  workspaceOf(taskId: string): Workspace | undefined
  /**
   * Keeps an agent for its task, for at most `idleMs`, or for about 8 hours while programs run in its sandbox. Ends another agent of the same task,
   * and the oldest agents if there are too many.
   */
  keep(workspace: Workspace, process: AgentProcess, fingerprint: Fingerprint, idleMs: number): Promise<void>
  /** Ends the waiting agent of this task, if there is one. */
  drop(taskId: string): Promise<void>
  /** Ends all agents. Agents that are kept later are ended at once. */
  close(): Promise<void>
}

/** The memory of one agent in bytes, as measured with `claude`. */
const agentBytes = 200_000_000
const shareOfFree = 0.25
/** Programs in the sandbox of an agent, such as a person's shell, keep the agent waiting for at most this long. */
const longestUseMs = 8 * 60 * 60_000

/**
 * How many agents may wait: the configured number `given`, if there is one. Otherwise waiting agents may use a quarter of the memory that would be
 * free without them: `kept` agents already wait, and their memory is no longer free.
 */
export async function maxWarmAgents(
  given: number | null,
  kept: number,
  readFree: () => Promise<number> = freeMemory,
): Promise<number> {
  if (given !== null) return given
  return Math.floor((shareOfFree * ((await readFree()) + kept * agentBytes)) / agentBytes)
}

interface Waiting extends Fingerprint {
  readonly workspace: Workspace
  readonly process: AgentProcess
  readonly unwatch: () => void
  isThawed: boolean
}

/** The tasks whose agents are too many: first the oldest, and last those in whose sandbox other programs run. */
function surplusOf(waiting: ReadonlyMap<string, Waiting>, allowed: number): readonly string[] {
  const used = ([, { process }]: readonly [string, Waiting]) => Number(process.isUsed())
  const inTurn = [...waiting].toSorted((one, other) => used(one) - used(other))
  return inTurn.slice(0, Math.max(0, waiting.size - allowed)).map(([taskId]) => taskId)
}

interface Wait {
  readonly taskId: string
  readonly process: AgentProcess
  readonly idleMs: number
  readonly watchDisk: DiskWatch['watch']
}

/** Calls `onOver` when an agent has waited for long enough, or when programs in its sandbox fill the disk, until the returned function is called. */
function watchWait({ taskId, process, idleMs, watchDisk }: Wait, onOver: () => void): () => void {
  let unwatchDisk: (() => void) | undefined
  let waitedMs = 0
  // A frozen agent writes nothing, but the programs in its sandbox may.
  const watchIfUsed = (): void => {
    if (process.isUsed()) unwatchDisk ??= watchDisk({ taskId, stop: { stop: onOver } })
  }
  const wait = (): NodeJS.Timeout =>
    setTimeout(() => {
      waitedMs += idleMs
      watchIfUsed()
      if (process.isUsed() && waitedMs < longestUseMs) timer = wait()
      else onOver()
    }, idleMs)
  let timer = wait()
  watchIfUsed()
  return () => {
    clearTimeout(timer)
    unwatchDisk?.()
  }
}

/** Makes the collection of warm agents. `limitFor` returns how many may wait, given how many already do. */
export function warmAgents({
  limitFor,
  watchDisk,
}: {
  readonly limitFor: (kept: number) => Promise<number>
  readonly watchDisk: DiskWatch['watch']
}): WarmAgents {
  const waiting = new Map<string, Waiting>()
  const ending = new Set<Promise<unknown>>()
  let isClosed = false

  function end(process: AgentProcess): Promise<unknown> {
    const ended = process.close().finally(() => ending.delete(ended))
    ending.add(ended)
    return ended
  }
  async function drop(taskId: string): Promise<void> {
    const found = waiting.get(taskId)
    if (found === undefined) return
    waiting.delete(taskId)
    await end(found.process).finally(found.unwatch)
  }
  async function dropOldest(): Promise<void> {
    const allowed = await limitFor(waiting.size)
    await Promise.all(surplusOf(waiting, allowed).map(drop))
  }

  return {
    hasRoom: async () => (await limitFor(waiting.size)) > 0,
    thaw(taskId) {
      const found = waiting.get(taskId)
      if (found === undefined) return
      found.isThawed = true
      found.process.thaw()
    },
    async freeze(taskId) {
      const found = waiting.get(taskId)
      if (found?.isThawed !== true) return
      found.isThawed = false
      if (!(await found.process.freeze())) await drop(taskId)
    },
    workspaceOf(taskId) {
      const found = waiting.get(taskId)
      return found?.process.isAlive() === true && found.session !== null ? found.workspace : undefined
    },
    async take(taskId, needed) {
      const found = waiting.get(taskId)
      const matches =
        found?.process.isAlive() === true && found.setup === needed.setup && found.session === needed.session
      if (!matches) {
        await drop(taskId)
        return undefined
      }
      waiting.delete(taskId)
      found.unwatch()
      return found.process
    },
    async keep(workspace, process, fingerprint, idleMs) {
      const { taskId } = workspace
      await drop(taskId)
      if (isClosed || !process.isAlive()) return void (await end(process))
      const dropThis = () => (waiting.get(taskId)?.process === process ? drop(taskId) : undefined)
      const unwatch = watchWait({ taskId, process, idleMs, watchDisk }, () => void dropThis())
      waiting.set(taskId, { ...fingerprint, workspace, process, unwatch, isThawed: false })
      // If an agent dies while it waits, its sandbox is removed.
      void process.exited.then(dropThis)
      await dropOldest()
    },
    drop,
    async close() {
      isClosed = true
      await Promise.all([...waiting.keys()].map(drop))
      await Promise.all(ending)
    },
  }
}
