/** The clean-up of a task whose pull request was merged or closed: its branch at the code host, and its workspace on the server. */
import { z } from 'zod'
import { fact } from '../../kernel/event.schema.ts'
import { branchOutcomes, workspaceOutcomes } from '../../api/cleanUp.ts'

const asked = { requestId: z.string() }

/** A person requested the clean-up. `TaskCleanedUp` has its outcome; until that event, the clean-up can be requested again. */
export const TaskCleanUpRequested = fact('TaskCleanUpRequested', asked)

/** Where all work of a workspace is: in the merged head or the base, in the last snapshot, or unknown because the workspace no longer existed. */
export const workPlaces = ['merged', 'saved', 'unknown'] as const
export type WorkPlace = (typeof workPlaces)[number]

/** The runner has checked the workspace, and removes it from now on even if the task is continued. */
export const TaskCleanUpBegun = fact('TaskCleanUpBegun', { work: z.enum(workPlaces) })

export const TaskCleanedUp = fact('TaskCleanedUp', {
  ...asked,
  branch: z.enum(branchOutcomes),
  workspace: z.enum(workspaceOutcomes),
  /** True when all work was merged and the branch is gone: the next workspace then starts from the base branch. */
  startsAnew: z.boolean(),
})

export const cleanUpEvents = [TaskCleanUpRequested, TaskCleanUpBegun, TaskCleanedUp] as const
