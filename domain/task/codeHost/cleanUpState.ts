/** The clean-up after a pull request, in the state of the task. */
import { isBranchGone, isBranchThere } from '../../api/cleanUp.ts'
import type { RecordedOf } from '../../kernel/event.ts'
import type { WorkPlace } from './cleanUpEvents.ts'
import type { TaskEvent } from '../events.ts'

export interface TaskCleanUp {
  /** The one that was asked for last and has no outcome yet. */
  readonly request: string | null
  /** Where the work of the workspace was when its removal began; `null` while there may be a workspace with later work. */
  readonly work: WorkPlace | null
  /** The branch was gone from the code host when it was looked for last. */
  readonly isBranchGone: boolean
}

export const noCleanUp: TaskCleanUp = { request: null, work: null, isBranchGone: false }

/** Whether a workspace that is made next begins at the base branch, with the conversation alone: however many tries it took. */
export function startsAnew({ work, isBranchGone: isGone }: TaskCleanUp): boolean {
  return work === 'merged' && isGone
}

type CleanUpEvent = Extract<RecordedOf<TaskEvent>, { type: `TaskClean${string}` }>

export function isOfCleanUp<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: `TaskClean${string}` }> {
  return event.type.startsWith('TaskClean')
}

export function withCleanUp(before: TaskCleanUp, { type, data }: CleanUpEvent): TaskCleanUp {
  switch (type) {
    case 'TaskCleanUpRequested':
      return { ...before, request: data.requestId }
    case 'TaskCleanUpBegun':
      return { ...before, work: data.work }
    case 'TaskCleanedUp':
      return {
        request: null,
        // In what was recorded before the beginning was, this alone says that all was merged.
        work: data.startsAnew ? 'merged' : before.work,
        isBranchGone: isBranchGone(data.branch) || (before.isBranchGone && !isBranchThere(data.branch)),
      }
  }
}

/** A workspace was made, or found: what was true of the one before says nothing of it. */
export function afterWorkspace(before: TaskCleanUp): TaskCleanUp {
  return { ...before, work: null, isBranchGone: false }
}
