/** Agents that wait in their boxes for the next message of their task: a follow-up pays no start. */
import type { Workspace } from '../workspace/workspace.ts'
import type { AgentProcess } from '../execution/agent.ts'

/** What an agent that waits must be like to be of use. */
export interface Fingerprint {
  /** All that it was started with, in words that are equal when it is. */
  readonly setup: string
  /** The session that it is in; `null`: it had no turn yet. */
  readonly session: string | null
}

export interface WarmAgents {
  /** The agent that waits for this task, if it is alive and alike; one that is not is ended first. */
  take(taskId: string, wanted: Fingerprint): Promise<AgentProcess | undefined>
  /** Wakes the agent that waits for this task, as a turn of it begins. */
  wake(taskId: string): void
  /** Has the agent that was woken stand still again where the turn did not take it; one that cannot is ended. */
  rest(taskId: string): Promise<void>
  /** Where an agent waits that had a turn, if one does. */
  workspaceOf(taskId: string): Workspace | undefined
  /** Lets an agent wait for its task, for `idleMs` at most. Another that waited for it is ended. */
  keep(workspace: Workspace, process: AgentProcess, fingerprint: Fingerprint, idleMs: number): Promise<void>
  /** Ends the agent that waits for this task, if one does. */
  drop(taskId: string): Promise<void>
  /** Ends all; what is kept afterwards is ended at once. */
  close(): Promise<void>
}

interface Waiting extends Fingerprint {
  readonly workspace: Workspace
  readonly process: AgentProcess
  readonly timer: NodeJS.Timeout
  isAwake: boolean
}

/** At most so many wait; the one that waits longest makes place. */
export function warmAgents({ most }: { readonly most: number }): WarmAgents {
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
    clearTimeout(found.timer)
    await end(found.process)
  }

  return {
    wake(taskId) {
      const found = waiting.get(taskId)
      if (found === undefined) return
      found.isAwake = true
      found.process.wake()
    },
    async rest(taskId) {
      const found = waiting.get(taskId)
      if (found?.isAwake !== true) return
      found.isAwake = false
      if (!(await found.process.rest())) await drop(taskId)
    },
    workspaceOf(taskId) {
      const found = waiting.get(taskId)
      return found?.process.isAlive() === true && found.session !== null ? found.workspace : undefined
    },
    async take(taskId, wanted) {
      const found = waiting.get(taskId)
      const isAlike =
        found?.process.isAlive() === true && found.setup === wanted.setup && found.session === wanted.session
      if (!isAlike) {
        await drop(taskId)
        return undefined
      }
      waiting.delete(taskId)
      clearTimeout(found.timer)
      return found.process
    },
    async keep(workspace, process, fingerprint, idleMs) {
      const { taskId } = workspace
      await drop(taskId)
      if (isClosed || !process.isAlive()) return void (await end(process))
      const timer = setTimeout(() => void drop(taskId), idleMs)
      waiting.set(taskId, { ...fingerprint, workspace, process, timer, isAwake: false })
      // One that dies while it waits leaves nothing behind.
      void process.exited.then(() => (waiting.get(taskId)?.process === process ? drop(taskId) : undefined))
      const [oldest] = waiting.keys()
      if (waiting.size > most && oldest !== undefined) await drop(oldest)
    },
    drop,
    async close() {
      isClosed = true
      await Promise.all([...waiting.keys()].map(drop))
      await Promise.all(ending)
    },
  }
}
