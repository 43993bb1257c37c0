/** The clean-up after a merged or closed pull request, in the state of the task. */
import { isBranchGone, isBranchThere } from '../../api/cleanUp.ts'
import type { RecordedOf } from '../../kernel/event.ts'
import type { WorkPlace } from './cleanUpEvents.ts'
import type { TaskEvent } from '../events.ts'

export interface TaskCleanUp {
  readonly request: string | null
  /** Where the work of the workspace was when its removal began; `null` before a removal begins, and once `afterWorkspace` was applied. */
  readonly work: WorkPlace | null
  /** Whether the branch was missing at the code host at the last clean-up that could tell. */
  readonly isBranchGone: boolean
}

export const noCleanUp: TaskCleanUp = { request: null, work: null, isBranchGone: false }

/**
 * Whether the next workspace starts from the base branch, so that the task keeps only its conversation. Different clean-ups may have removed the
 * branch and the workspace.
 */
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
        // In logs from before `TaskCleanUpBegun` existed, only `startsAnew` says that all work was merged.
        work: data.startsAnew ? 'merged' : before.work,
        isBranchGone: isBranchGone(data.branch) || (before.isBranchGone && !isBranchThere(data.branch)),
      }
  }
}

/** The state once the task has a workspace, or a published branch, again: the place of earlier work and the missing branch no longer matter. */
export function afterWorkspace(before: TaskCleanUp): TaskCleanUp {
  return { ...before, work: null, isBranchGone: false }
}
