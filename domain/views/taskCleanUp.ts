/** The fields of a task's document about its clean-up and about unpublished work. */
import type { Task } from '../api/tasks.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { afterWorkspace, noCleanUp, startsAnew, withCleanUp } from '../task/codeHost/cleanUpState.ts'
import type { TaskEvent } from '../task/events.ts'

type CleanUpEvent = Extract<RecordedOf<TaskEvent>, { type: `TaskClean${string}` }>

/** The task's document after an event about the clean-up. The outcome is shown only if the task was not continued since the request. */
export function cleaned<D extends Pick<Task, 'cleaning' | 'cleanUp' | 'laterWork'>>(
  task: D,
  event: CleanUpEvent,
): Omit<D, 'laterWork'> & Pick<Task, 'laterWork'> {
  const { laterWork, ...others } = task
  const before = task.cleaning ?? noCleanUp
  const cleaning = withCleanUp(before, event)
  const isLate = event.type === 'TaskCleanedUp' && event.data.requestId !== before.request
  // A task starts again from the base branch only if all of its work was merged, so no unpublished work is left.
  const later = laterWork && (isLate || !startsAnew(cleaning)) ? { laterWork } : {}
  if (event.type !== 'TaskCleanedUp' || isLate) return { ...others, ...later, cleaning }
  const { branch, workspace } = event.data
  return { ...others, ...later, cleaning, cleanUp: { at: event.at, branch, workspace } }
}

/** Drops the outcome and the pending request of a clean-up, because the task was continued or its pull request is open again. */
export function withoutCleanUp<D extends Pick<Task, 'cleaning' | 'cleanUp'>>({
  cleanUp: _before,
  ...task
}: D): Omit<D, 'cleanUp'> {
  return task.cleaning ? { ...task, cleaning: { ...task.cleaning, request: null } } : task
}

/** Notes that the task has a workspace, or a branch at the code host, again. */
export function withWork<D extends Pick<Task, 'cleaning'>>(task: D): D {
  return task.cleaning ? { ...task, cleaning: afterWorkspace(task.cleaning) } : task
}
