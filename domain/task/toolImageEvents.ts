/** The event for images that a tool returned to the agent. */
import { z } from 'zod'
import { imageFacts } from '../image.ts'
import { fact } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

/** Images that a tool call returned were stored, or left out. This event comes before the end of the tool call. */
export const ToolImagesKept = fact('ToolImagesKept', {
  executionId: ExecutionId,
  toolId: z.string().max(200),
  images: z.array(z.object(imageFacts)),
  /** How many further images are left out, because there were too many, they were too large or unreadable, or the run may record no more. */
  leftOut: z.int().nonnegative(),
})
