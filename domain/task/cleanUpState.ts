/** The clean-up after a pull request, in the state of the task. */
import type { RecordedOf } from '../kernel/event.ts'
import type { TaskEvent } from './events.ts'

export interface TaskCleanUp {
  /** The one that was asked for last and has no outcome yet. */
  readonly request: string | null
  /** All work was merged and its workspace removed: the next one begins at the base branch, with the conversation alone. */
  readonly startsAnew: boolean
}

export const noCleanUp: TaskCleanUp = { request: null, startsAnew: false }

type CleanUpEvent = Extract<RecordedOf<TaskEvent>, { type: `TaskClean${string}` }>

export function isOfCleanUp<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: `TaskClean${string}` }> {
  return event.type.startsWith('TaskClean')
}

export function withCleanUp(before: TaskCleanUp, { type, data }: CleanUpEvent): TaskCleanUp {
  return type === 'TaskCleanUpRequested'
    ? { ...before, request: data.requestId }
    : { request: null, startsAnew: before.startsAnew || data.startsAnew }
}
