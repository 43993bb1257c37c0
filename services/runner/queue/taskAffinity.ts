/** Task affinity: a task's workspace, with all of its unpushed work, is on the runner that ran the task last. */
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { orElse } from '#platform/async/orElse.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import type { RunnerPresence } from './runnerPresence.ts'

/** Other runners wait this long for a runner that may be restarting. Then they begin its task from the saved work. */
const restartMs = 30_000
/** After a failed run, other runners wait only this long, because a person has requested another try and is waiting. */
const retryMs = 3_000

/** The id of the runner whose folder is `root`. The id is made at the first start, and stays the same after every restart. */
export function runnerIdIn(root: string): string {
  const file = join(root, 'id')
  try {
    writeFileSync(file, randomUUID(), { flag: 'wx', flush: true })
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault
  }
  return readFileSync(file, 'utf8')
}

export interface ThisRunner {
  readonly commands: Pick<Commands, 'load'>
  readonly runnerId: string
  /** Whether there are no other runners. */
  readonly isAlone: boolean
}

/**
 * Whether another runner ran the task last. That runner has the present workspace and writes to the task's terminal; a workspace here is outdated. A
 * damaged history does not say where the task ran, so the workspace here then counts.
 */
export async function isElsewhere(
  { commands, runnerId, isAlone }: ThisRunner,
  taskId: string,
): Promise<boolean> {
  if (isAlone) return false
  const loaded = await commands.load(decider, taskStream(taskId)).catch(orElse(UnreadableEvent, undefined))
  const state = loaded?.state
  return state?.kind === 'task' && state.lastRunnerId !== null && state.lastRunnerId !== runnerId
}

/**
 * Which runner should do the next work of a task. `here`: this runner, which ran the task last, or is the first or only one. `elsewhere`: another
 * runner, which is connected or may come back. `gone`: this runner, because the other one is leaving or no longer exists.
 */
export function affinityOf(
  { lastRunnerId, phase }: Pick<LiveTask, 'lastRunnerId' | 'phase'>,
  { runnerId, isAlone }: { runnerId: string; isAlone: boolean },
  presence: Pick<RunnerPresence, 'statusOf'>,
): 'here' | 'elsewhere' | 'gone' {
  if (lastRunnerId === null || lastRunnerId === runnerId || isAlone) return 'here'
  const isRetry = 'execution' in phase && phase.execution.statusBefore === 'failed'
  return presence.statusOf(lastRunnerId, isRetry ? retryMs : restartMs) === 'gone' ? 'gone' : 'elsewhere'
}
