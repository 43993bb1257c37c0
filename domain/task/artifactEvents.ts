/** The event for a file that an agent leaves for people, such as a screenshot, a video or a report. */
import { z } from 'zod'
import { otherArtifactTypes } from '../api/artifacts.ts'
import { mediaTypes } from '../image.ts'
import { event } from '../kernel/event.schema.ts'
import { ArtifactId, BlobRef, ExecutionId } from '../kernel/ids.schema.ts'

export const ArtifactType = z.enum([...mediaTypes, ...otherArtifactTypes])

/** At the end of a turn, a new or changed file of the artifact folder was stored. */
export const ArtifactKept = event('ArtifactKept', 1, {
  data: z.object({
    executionId: ExecutionId,
    artifactId: ArtifactId,
    mediaType: ArtifactType,
    blob: BlobRef,
  }),
  /** `name` is the path below the artifact folder. `digest` is the SHA-256 of the file as the agent left it, to detect later changes. */
  content: z.object({ name: z.string(), digest: z.string() }),
})
