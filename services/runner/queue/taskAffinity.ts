/** Task affinity: a task's workspace, with all work that was not pushed, is on the runner that ran it last. */
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LiveTask } from '#domain/task/state.ts'
import type { RunnerPresence } from './runnerPresence.ts'

/** A runner that restarts finds its tasks again. Others wait this long for it before they begin one of its tasks again. */
const restartMs = 30_000
/** Shorter after a failed run: a person has asked for another try, and waits. */
const retryMs = 3_000

/** The id of the runner with this folder, which is the same after every restart; made on the first start. */
export function runnerIdIn(root: string): string {
  const file = join(root, 'id')
  try {
    writeFileSync(file, randomUUID(), { flag: 'wx', flush: true })
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault
  }
  return readFileSync(file, 'utf8')
}

/**
 * Who should do what is next for a task. `here`: this runner, which ran it last or is the first. `elsewhere`: another runner, which is there or
 * may come back. `gone`: this one again, since that other is gone.
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
