/** A project's environment: the files that its setup command left. New tasks start with these files. */
import { z } from 'zod'
import { ProjectId } from '../kernel/ids.schema.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { environmentRoutes } from './environment.ts'

const params = z.object({ projectId: ProjectId })

const environment = {
  state: z.enum(['none', 'building', 'ready', 'failed']),
  /** Since when the environment has been in this state; `null` for `none`. */
  since: z.iso.datetime().nullable(),
  /** When the setup of the kept environment ended. */
  builtAt: z.iso.datetime().nullable(),
  /** How many seconds the setup of the kept environment took. */
  seconds: z.number().nullable(),
  /** The size of the kept environment on disk. */
  bytes: z.int().nullable(),
  /** Why the last setup left no environment, as a sentence; `null` unless `state` is `failed`. */
  reason: z.string().nullable(),
  /** Whether the last setup failed, but tasks use an earlier environment. */
  usesEarlier: z.boolean(),
  /** Some of the lock files whose changes started the last setup; `null` if a task or person started it. */
  changed: z.array(z.string()).nullable(),
  /** Some of the files that were not kept because they contain a secret of the project. */
  leftOut: z.array(z.string()),
  /** The end of what the last ended setup printed. */
  log: z.string(),
}
const Environment = z.object(environment)
export type ShownEnvironment = z.infer<typeof Environment>

export const getProjectEnvironment = defineRead(environmentRoutes.getProjectEnvironment, {
  summary:
    "What the project's setup command left for new tasks: whether there is any, when it was made, how long that took, and how large it is.",
  params,
  answer: environment,
  faults: ['not_found'],
})

export const rebuildProjectEnvironment = defineWrite(environmentRoutes.rebuildProjectEnvironment, {
  summary:
    "Begins to run the project's setup command in a new workspace of the default branch. If it succeeds, new tasks use its result.",
  params,
  answer: { state: z.literal('building') },
  faults: ['not_found', 'nothing_to_run', 'conflict'],
})
