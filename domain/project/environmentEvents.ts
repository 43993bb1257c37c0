/** Events of a project's environment: what its setup command leaves in a new workspace, kept for the tasks that follow. */
import { z } from 'zod'
import { event, fact, type EventOf } from '../kernel/event.schema.ts'

/** The setup command began to run for the environment of the project's default branch: for a task, or because a person asked. */
export const ProjectEnvironmentStarted = fact('ProjectEnvironmentStarted', {
  trigger: z.enum(['task', 'rebuild']),
})
/** What the setup left was kept. `seconds` is how long the setup took, `bytes` the size of what was kept. */
export const ProjectEnvironmentPrepared = event('ProjectEnvironmentPrepared', 1, {
  data: z.object({ seconds: z.number().nonnegative(), bytes: z.int().nonnegative() }),
  content: z.object({
    /** The end of what the setup printed, without secrets. */
    log: z.string(),
    /** Some of the files that were not kept because they contain a secret of the project. */
    leftOut: z.array(z.string()),
  }),
})
/**
 * Nothing was kept. `not_kept`: the setup succeeded, and its result cannot be used for other tasks. `interrupted`: it did not come to its end.
 * `usesEarlier`: tasks may still use what an earlier run of the same setup command left.
 */
export const ProjectEnvironmentFailed = event('ProjectEnvironmentFailed', 1, {
  data: z.object({ code: z.enum(['setup_failed', 'not_kept', 'interrupted']), usesEarlier: z.boolean() }),
  content: z.object({ reason: z.string(), log: z.string() }),
})

export const projectEnvironmentEvents = [
  ProjectEnvironmentStarted,
  ProjectEnvironmentPrepared,
  ProjectEnvironmentFailed,
] as const
export type ProjectEnvironmentEvent = EventOf<(typeof projectEnvironmentEvents)[number]>
