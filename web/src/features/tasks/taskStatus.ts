/** The status of a task for display. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { taskStatuses } from '#domain/api/tasks.ts'
import type { StatusName } from '../../ui/status/Status.tsx'

/** An unknown status counts as pending (contract, section 4). */
export function statusOf(text: string): Task['status'] {
  return taskStatuses.find((status) => status === text) ?? 'pending'
}

/** Whether the task's own stream is damaged: nothing can be added to it, and its last status may be outdated. */
export function isRecordDamaged({ unreadable }: Pick<Task, 'unreadable'>): boolean {
  return unreadable !== undefined && unreadable.stream !== 'terminal'
}

export function isRunning(task: Pick<Task, 'status' | 'unreadable'>): boolean {
  return task.status === 'running' && !isRecordDamaged(task)
}

/** Whether the task's agent waits for a person. */
export function isWaiting(task: Pick<Task, 'status' | 'unreadable' | 'waitingFor'>): boolean {
  return isRunning(task) && task.waitingFor !== null
}

export function shownStatusOf(task: Pick<Task, 'status' | 'unreadable' | 'waitingFor'>): StatusName {
  if (isRecordDamaged(task)) return 'damaged'
  return isWaiting(task) ? 'waiting' : statusOf(task.status)
}
