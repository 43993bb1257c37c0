/** The clean-up of a task whose pull request is over: its branch at the code host, and its workspace on the server. */
import { z } from 'zod'
import { event, none } from '../kernel/event.schema.ts'
import { branchOutcomes, workspaceOutcomes } from '../api/cleanUp.ts'

const asked = { requestId: z.string() }

/** A person wants it. What became of it is `TaskCleanedUp`; without that it can be asked for again. */
export const TaskCleanUpRequested = event('TaskCleanUpRequested', 1, { data: z.object(asked), content: none })

export const TaskCleanedUp = event('TaskCleanedUp', 1, {
  data: z.object({
    ...asked,
    branch: z.enum(branchOutcomes),
    workspace: z.enum(workspaceOutcomes),
    /** Whether all work was merged, so that a workspace that is made later begins at the base branch. */
    startsAnew: z.boolean(),
  }),
  content: none,
})

export const cleanUpEvents = [TaskCleanUpRequested, TaskCleanedUp] as const
