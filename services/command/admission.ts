/** How many tasks of one person may run or wait to run at once. */
import { Fault } from '#domain/kernel/errors.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Appended } from '#platform/eventlog/eventLog.ts'
import type { Projected } from '#platform/reads/projected.ts'
import { serializeByKey } from '#platform/async/queue.ts'

export interface Admission {
  /**
   * Lets the person start one task more, or throws `too_many_tasks`. What was admitted in this process counts from that moment on;
   * what other processes admit counts once it is projected.
   */
  admit(userId: string, append: () => Promise<Appended>): Promise<Appended>
}

const active = ['queued', 'running']
/** Runs last minutes: asking again sooner is of little use. */
const retryAfterSeconds = 30
const projectedWithinMs = 10_000

export function admission({
  documents,
  projected,
  tasksAtOnce,
}: {
  documents: Pick<Documents, 'count'>
  projected: Pick<Projected, 'waitFor'>
  tasksAtOnce: number
}): Admission {
  const serialized = serializeByKey()

  async function appendIfFree(userId: string, append: () => Promise<Appended>): Promise<Appended> {
    if ((await documents.count(tasksView, { owner: userId, status: active })) >= tasksAtOnce) {
      const sentence = `${tasksAtOnce} of your tasks are already running or queued. Try again when one finishes.`
      throw new Fault('too_many_tasks', sentence, undefined, { retryAfterSeconds })
    }
    return append()
  }

  return {
    admit: (userId, append) =>
      new Promise((resolve, reject) => {
        // The turn lasts until the documents hold the task: the next count has it once, neither missed nor twice.
        void serialized(userId, async () => {
          const appended = await appendIfFree(userId, append)
          resolve(appended)
          const last = appended.kind === 'appended' ? appended.events.at(-1) : undefined
          if (last) await projected.waitFor(last.position, projectedWithinMs)
        }).catch(reject)
      }),
  }
}
