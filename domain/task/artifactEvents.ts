/** The files that an agent leaves for people, such as screenshots, videos and reports. */
import { z } from 'zod'
import { otherArtifactTypes } from '../api/artifacts.ts'
import { mediaTypes } from '../image.ts'
import { event } from '../kernel/event.schema.ts'
import { ArtifactId, BlobRef, ExecutionId } from '../kernel/ids.schema.ts'

export const ArtifactType = z.enum([...mediaTypes, ...otherArtifactTypes])

/** A file was new or changed at the end of a turn, and is kept. */
export const ArtifactKept = event('ArtifactKept', 1, {
  data: z.object({
    executionId: ExecutionId,
    artifactId: ArtifactId,
    mediaType: ArtifactType,
    blob: BlobRef,
  }),
  /** `name` is the path below the folder of artifacts, and `digest` the SHA-256 of the file as the agent left it, by which a change is noticed. */
  content: z.object({ name: z.string(), digest: z.string() }),
})
