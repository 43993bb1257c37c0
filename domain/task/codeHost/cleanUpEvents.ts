/** The clean-up of a task whose pull request is merged or closed: of its branch at the code host, and its workspace on the server. */
import { z } from 'zod'
import { fact } from '../../kernel/event.schema.ts'
import { branchOutcomes, workspaceOutcomes } from '../../api/cleanUp.ts'

const asked = { requestId: z.string() }

/** A person asked for the clean-up. The outcome is in `TaskCleanedUp`; until then the clean-up can be requested again. */
export const TaskCleanUpRequested = fact('TaskCleanUpRequested', asked)

/**
 * Where all work of a workspace is: `merged` in the pull request's head or the base, `saved` in the last snapshot, or `unknown` because the workspace
 * was already gone.
 */
export const workPlaces = ['merged', 'saved', 'unknown'] as const
export type WorkPlace = (typeof workPlaces)[number]

/** The runner has checked the workspace and will remove it now, whatever happens meanwhile. */
export const TaskCleanUpBegun = fact('TaskCleanUpBegun', { work: z.enum(workPlaces) })

export const TaskCleanedUp = fact('TaskCleanedUp', {
  ...asked,
  branch: z.enum(branchOutcomes),
  workspace: z.enum(workspaceOutcomes),
  /** Whether all work was merged and the branch is gone, so that the next workspace starts from the base branch. */
  startsAnew: z.boolean(),
})

export const cleanUpEvents = [TaskCleanUpRequested, TaskCleanUpBegun, TaskCleanedUp] as const
