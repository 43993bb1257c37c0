/** The images that a tool gave back to its agent. */
import { z } from 'zod'
import { imageFacts } from '../image.ts'
import { fact } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

/** The images that are kept of a tool call; recorded before the end of the call. */
export const ToolImagesKept = fact('ToolImagesKept', {
  executionId: ExecutionId,
  toolId: z.string().max(200),
  images: z.array(z.object(imageFacts)),
  /** How many further images were not kept: too many, too large, or not readable. */
  leftOut: z.int().nonnegative(),
})
