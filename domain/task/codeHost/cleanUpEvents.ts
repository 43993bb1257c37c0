/** Events of the clean-up after a merged or closed pull request, which removes the task's branch at the code host and its workspace on the runner. */
import { z } from 'zod'
import { fact } from '../../kernel/event.schema.ts'
import { branchOutcomes, workspaceOutcomes } from '../../api/cleanUp.ts'

const asked = { requestId: z.string() }

/** A person requested the clean-up. `TaskCleanedUp` records its outcome. A person can request the clean-up again, even before this outcome. */
export const TaskCleanUpRequested = fact('TaskCleanUpRequested', asked)

/**
 * Where the work of a task's workspace is kept besides the workspace. `merged`: in the merged branch or the base. `saved`: in the last snapshot.
 * `unknown`: there was no workspace.
 */
export const workPlaces = ['merged', 'saved', 'unknown'] as const
export type WorkPlace = (typeof workPlaces)[number]

/** The runner has checked the workspace and will now remove it, even if the task is continued. */
export const TaskCleanUpBegun = fact('TaskCleanUpBegun', { work: z.enum(workPlaces) })

export const TaskCleanedUp = fact('TaskCleanedUp', {
  ...asked,
  branch: z.enum(branchOutcomes),
  workspace: z.enum(workspaceOutcomes),
  /** True when all work was merged, the branch is gone and nothing runs: the next workspace then starts from the base branch. */
  startsAnew: z.boolean(),
})

export const cleanUpEvents = [TaskCleanUpRequested, TaskCleanUpBegun, TaskCleanedUp] as const
