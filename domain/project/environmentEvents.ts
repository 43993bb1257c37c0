/** Events of a project's environment: the files that its setup command leaves in a new workspace, kept for later tasks. */
import { z } from 'zod'
import { event, type EventOf } from '../kernel/event.schema.ts'

/**
 * The setup command was started for the environment of the default branch: because of a task, because a person requested a rebuild, or because lock
 * files of the branch have changed.
 */
export const ProjectEnvironmentStarted = event('ProjectEnvironmentStarted', 2, {
  data: z.object({ trigger: z.enum(['task', 'rebuild', 'lock_files']) }),
  /** `changed` has some of the lock files that changed; none when that is not known. Version 1 had no content. */
  content: z.object({ changed: z.array(z.string()) }).nullable(),
  upcasts: [(older) => older],
})
/** The environment was kept. `seconds` is how long the setup took, `bytes` is the size of the kept files. */
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
 * No environment was kept. `not_kept`: the setup succeeded, but other tasks cannot use its result. `interrupted`: the setup was stopped before its
 * end. `usesEarlier`: tasks may still use the environment from an earlier run of the same setup command.
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
