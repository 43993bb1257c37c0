/** How a task stands, as the screens know it. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { taskStatuses } from '#domain/api/tasks.ts'

/** A status that is not known here counts as pending (section 4). */
export function statusOf(said: string): Task['status'] {
  return taskStatuses.find((status) => status === said) ?? 'pending'
}
