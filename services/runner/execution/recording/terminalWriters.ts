/**
 * The writers of terminals in this process. A shell writes to the same stream as a run, and two writers would evict each other, so the shell writes
 * through the writer of the run while there is one.
 */
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import type { TerminalEvent } from '#domain/task/terminalEvents.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { Evicted } from '../failure.ts'
import { terminalWriter, type TerminalWriter } from './terminalWriter.ts'

type Deps = Parameters<typeof terminalWriter>[0] & { readonly commands: Pick<Commands, 'load'> }

export interface TerminalWriters {
  /** Makes a run's writer the one that shells write through, until the returned function is called. Must precede the run's first append. */
  register(taskId: string, writer: TerminalWriter): () => void
  /** Appends an event of a shell. Calls for one task must not overlap. Rejects with `Evicted` when another runner writes to the terminal. */
  append(taskId: string, event: TerminalEvent): Promise<void>
  /** Called when the shell of a task has ended, so that nothing of it is kept. */
  forget(taskId: string): void
}

export function terminalWriters(deps: Deps): TerminalWriters {
  const ofRuns = new Map<string, TerminalWriter>()
  /** Writers for the time between two runs. */
  const between = new Map<string, TerminalWriter>()
  /** How often a run began or ended, for tasks with a shell. */
  const changes = new Map<string, number>()
  function changed(taskId: string): void {
    between.delete(taskId)
    const count = changes.get(taskId)
    if (count !== undefined) changes.set(taskId, count + 1)
  }
  /** The writer to use now. Between runs, its first append does not try again: a run that has begun since must not be evicted. */
  async function writerFor(taskId: string): Promise<TerminalWriter | undefined> {
    const known = ofRuns.get(taskId) ?? between.get(taskId)
    if (known) return known
    const { head } = await deps.commands.load(decider, taskStream(taskId))
    const writer = await terminalWriter(deps, taskId, head.revision, 1)
    if (ofRuns.has(taskId)) return ofRuns.get(taskId)
    between.set(taskId, writer)
    return writer
  }
  return {
    register(taskId, writer) {
      ofRuns.set(taskId, writer)
      changed(taskId)
      return () => {
        ofRuns.delete(taskId)
        changed(taskId)
      }
    },
    async append(taskId, event) {
      for (;;) {
        const before = changes.get(taskId) ?? 0
        changes.set(taskId, before)
        try {
          return await (await writerFor(taskId))?.append(event)
        } catch (fault) {
          between.delete(taskId)
          // A run that began or ended meanwhile has another writer.
          if (!(fault instanceof Evicted) || changes.get(taskId) === before) throw fault
        }
      }
    },
    forget(taskId) {
      between.delete(taskId)
      changes.delete(taskId)
    },
  }
}
