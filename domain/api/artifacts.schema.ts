/** The list of a task's artifacts, which are files that its agent left for people. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { ArtifactType } from '../task/artifactEvents.ts'
import { artifactRoutes } from './artifacts.ts'
import { defineRead } from './call.schema.ts'
import { Moment } from './fields.schema.ts'

export const ShownArtifact = z.object({
  id: z.string(),
  /** The path below the folder of artifacts; `null` when the path was erased. */
  name: z.string().nullable(),
  /** The media type, recognised from the bytes and, for a text, from the ending of its name. */
  type: ArtifactType,
  /** The size in bytes, as stored. */
  size: z.number(),
  /** The address of the bytes: valid for some minutes, for anybody who has it. */
  url: z.string(),
})
export type ShownArtifact = z.infer<typeof ShownArtifact>

export const listArtifacts = defineRead(artifactRoutes.listArtifacts, {
  summary: 'The files that the agent left for people in .flightdeck/artifacts, oldest first.',
  params: z.object({ taskId: TaskId }),
  answer: {
    artifacts: z.array(
      ShownArtifact.extend({
        /** The turn in which the agent left the file. */
        executionId: z.string(),
        keptAt: Moment,
      }),
    ),
  },
  faults: ['not_found'],
})
