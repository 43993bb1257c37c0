/** Limits how many tasks of one person may run or be queued at once. */
import { Fault } from '#domain/kernel/errors.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Ballast } from '#platform/dataFolder/ballast.ts'
import type { Appended } from '#platform/eventlog/eventLog.ts'
import type { Projected } from '#platform/reads/projectionWait.ts'
import { serializeByKey } from '#platform/async/queue.ts'

export interface Admission {
  /**
   * Admits one more task of the person. Throws `too_many_tasks`, or `disk_full` while the server's disk is too full. Tasks that this process admits
   * count at once; those that other processes admit count as soon as the read models include them. The returned function must be called with the
   * result of the append, or with `null` when the append failed.
   */
  admit(userId: string): Promise<(result: Appended | null) => void>
}

export interface AdmissionOptions {
  readonly documents: Pick<Documents, 'count'>
  readonly projected: Pick<Projected, 'waitFor'>
  readonly ballast: Pick<Ballast, 'isFull'>
  readonly tasksAtOnce: number
}

/** Whether `fault` is a refusal of `admit` whose reason will pass. */
export const hasNoRoomYet = (fault: unknown): fault is Fault =>
  fault instanceof Fault && (fault.code === 'too_many_tasks' || fault.code === 'disk_full')

const active = ['queued', 'running']
/** Runs usually take minutes, so retrying sooner rarely helps. */
const retryAfterSeconds = 30
const projectionTimeoutMs = 10_000

export function admission({ documents, projected, ballast, tasksAtOnce }: AdmissionOptions): Admission {
  const serialized = serializeByKey()

  async function requireFree(userId: string): Promise<void> {
    if (ballast.isFull()) throw new Fault('disk_full')
    if ((await documents.count(tasksView, { owner: userId, status: active })) < tasksAtOnce) return
    const sentence = `${tasksAtOnce} of your tasks are already running or queued. Try again when one finishes.`
    throw new Fault('too_many_tasks', sentence, undefined, { retryAfterSeconds })
  }

  return {
    admit: (userId) =>
      new Promise((resolve, reject) => {
        // The person's next task is admitted when the read models include this task, or after a timeout, so that each task is counted once.
        void serialized(userId, async () => {
          await requireFree(userId)
          const result = await new Promise<Appended | null>((settle) => resolve(settle))
          const last = result?.kind === 'appended' ? result.events.at(-1) : undefined
          if (last) await projected.waitFor(last.position, projectionTimeoutMs)
        }).catch(reject)
      }),
  }
}
