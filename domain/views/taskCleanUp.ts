/** What a task's document tells of a clean-up, and of work that is in no pull request. */
import type { Task } from '../api/tasks.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { afterWorkspace, noCleanUp, startsAnew, withCleanUp } from '../task/codeHost/cleanUpState.ts'
import type { TaskEvent } from '../task/events.ts'

type CleanUpEvent = Extract<RecordedOf<TaskEvent>, { type: `TaskClean${string}` }>

/** After an event of a clean-up. An outcome is told only while nothing has come of the task since it was asked for. */
export function cleaned<D extends Pick<Task, 'cleaning' | 'cleanUp' | 'laterWork'>>(
  task: D,
  event: CleanUpEvent,
): Omit<D, 'laterWork'> & Pick<Task, 'laterWork'> {
  const { laterWork, ...others } = task
  const before = task.cleaning ?? noCleanUp
  const cleaning = withCleanUp(before, event)
  const isLate = event.type === 'TaskCleanedUp' && event.data.requestId !== before.request
  // What starts again has all its work in the merge.
  const later = laterWork && (isLate || !startsAnew(cleaning)) ? { laterWork } : {}
  if (event.type !== 'TaskCleanedUp' || isLate) return { ...others, ...later, cleaning }
  const { branch, workspace } = event.data
  return { ...others, ...later, cleaning, cleanUp: { at: event.at, branch, workspace } }
}

/** Once the task goes on, or its pull request is open again: what was and will be told of a clean-up no longer holds. */
export function withoutCleanUp<D extends Pick<Task, 'cleaning' | 'cleanUp'>>({
  cleanUp: _before,
  ...task
}: D): Omit<D, 'cleanUp'> {
  return task.cleaning ? { ...task, cleaning: { ...task.cleaning, request: null } } : task
}

/** With a workspace, or the branch at the code host, that was made or found. */
export function withWork<D extends Pick<Task, 'cleaning'>>(task: D): D {
  return task.cleaning ? { ...task, cleaning: afterWorkspace(task.cleaning) } : task
}
