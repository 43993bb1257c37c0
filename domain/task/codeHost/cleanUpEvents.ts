/** The clean-up of a task whose pull request is over: its branch at the code host, and its workspace on the server. */
import { z } from 'zod'
import { event, none } from '../../kernel/event.schema.ts'
import { branchOutcomes, workspaceOutcomes } from '../../api/cleanUp.ts'

const asked = { requestId: z.string() }

/** A person wants it. What became of it is `TaskCleanedUp`; without that it can be asked for again. */
export const TaskCleanUpRequested = event('TaskCleanUpRequested', 1, { data: z.object(asked), content: none })

/** Where all work of a workspace is: at the merged head or the base, in what was saved last, or nobody looked, as the workspace was gone already. */
export const workPlaces = ['merged', 'saved', 'unknown'] as const
export type WorkPlace = (typeof workPlaces)[number]

/** Its runner has looked through the workspace and removes it from now on, whatever comes in between. */
export const TaskCleanUpBegun = event('TaskCleanUpBegun', 1, {
  data: z.object({ work: z.enum(workPlaces) }),
  content: none,
})

export const TaskCleanedUp = event('TaskCleanedUp', 1, {
  data: z.object({
    ...asked,
    branch: z.enum(branchOutcomes),
    workspace: z.enum(workspaceOutcomes),
    /** Whether all work was merged and the branch is gone, so that a workspace that is made later begins at the base branch. */
    startsAnew: z.boolean(),
  }),
  content: none,
})

export const cleanUpEvents = [TaskCleanUpRequested, TaskCleanUpBegun, TaskCleanedUp] as const
