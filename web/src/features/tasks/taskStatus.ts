/** How a task stands, as the screens know it. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { taskStatuses } from '#domain/api/tasks.ts'
import type { StatusName } from '../../ui/status/Status.tsx'

/** A status that is not known here counts as pending (section 4). */
export function statusOf(said: string): Task['status'] {
  return taskStatuses.find((status) => status === said) ?? 'pending'
}

/** Whether the task's own record is damaged: nothing can be added to it, and nobody knows how what it says last went on. */
export function isRecordDamaged({ unreadable }: Pick<Task, 'unreadable'>): boolean {
  return unreadable !== undefined && unreadable.stream !== 'terminal'
}

export function isRunning(task: Pick<Task, 'status' | 'unreadable'>): boolean {
  return task.status === 'running' && !isRecordDamaged(task)
}

/** The status that is shown of a task. */
export function shownStatusOf(task: Pick<Task, 'status' | 'unreadable'>): StatusName {
  return isRecordDamaged(task) ? 'damaged' : task.status
}
