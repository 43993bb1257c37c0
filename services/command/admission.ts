/** How many tasks of one person may run or wait to run at once. */
import { Fault } from '#domain/kernel/errors.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Documents } from '#platform/commands/documents.ts'
import type { Appended } from '#platform/commands/eventLog.ts'
import type { Projected } from '#platform/commands/projected.ts'

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
  documents: Documents
  projected: Projected
  tasksAtOnce: number
}): Admission {
  const starting = new Map<string, number>()
  const count = (userId: string, by: number): number => {
    const now = (starting.get(userId) ?? 0) + by
    if (now === 0) starting.delete(userId)
    else starting.set(userId, now)
    return now
  }
  return {
    async admit(userId, append) {
      count(userId, 1)
      let settled: Promise<unknown> = Promise.resolve()
      try {
        const there = await documents.count(tasksView, { owner: userId, status: active })
        // Read last, so that of two that come at once each sees the other.
        if (there + count(userId, 0) > tasksAtOnce) {
          const sentence = `${tasksAtOnce} of your tasks run or wait already. Try again when one of them has ended.`
          throw new Fault('too_many_tasks', sentence, undefined, { retryAfterSeconds })
        }
        const appended = await append()
        const last = appended.kind === 'appended' ? appended.events.at(-1) : undefined
        if (last) settled = projected.waitFor(last.position, projectedWithinMs)
        return appended
      } finally {
        // The count of documents has it from then on.
        void settled.finally(() => count(userId, -1))
      }
    },
  }
}
