/** The part of a task's document about clean-up, and about work that is in no pull request. */
import type { Task } from '../api/tasks.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { afterWorkspace, noCleanUp, startsAnew, withCleanUp } from '../task/codeHost/cleanUpState.ts'
import type { TaskEvent } from '../task/events.ts'

type CleanUpEvent = Extract<RecordedOf<TaskEvent>, { type: `TaskClean${string}` }>

/** The task after a clean-up event. An outcome is shown only if the task has not gone on since the request. */
export function cleaned<D extends Pick<Task, 'cleaning' | 'cleanUp' | 'laterWork'>>(
  task: D,
  event: CleanUpEvent,
): Omit<D, 'laterWork'> & Pick<Task, 'laterWork'> {
  const { laterWork, ...others } = task
  const before = task.cleaning ?? noCleanUp
  const cleaning = withCleanUp(before, event)
  const isLate = event.type === 'TaskCleanedUp' && event.data.requestId !== before.request
  // If the task starts from the base branch again, all its work was merged.
  const later = laterWork && (isLate || !startsAnew(cleaning)) ? { laterWork } : {}
  if (event.type !== 'TaskCleanedUp' || isLate) return { ...others, ...later, cleaning }
  const { branch, workspace } = event.data
  return { ...others, ...later, cleaning, cleanUp: { at: event.at, branch, workspace } }
}

/** The task when it goes on, or when its pull request is open again: without the shown outcome and the pending request. */
export function withoutCleanUp<D extends Pick<Task, 'cleaning' | 'cleanUp'>>({
  cleanUp: _before,
  ...task
}: D): Omit<D, 'cleanUp'> {
  return task.cleaning ? { ...task, cleaning: { ...task.cleaning, request: null } } : task
}

/** The task when its workspace, or its branch at the code host, was created or found. */
export function withWork<D extends Pick<Task, 'cleaning'>>(task: D): D {
  return task.cleaning ? { ...task, cleaning: afterWorkspace(task.cleaning) } : task
}
