/** The event for images that a tool returned to the agent. */
import { z } from 'zod'
import { imageFacts } from '../image.ts'
import { fact } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

/** Images that a tool call returned were stored. This event comes before the end of the tool call. */
export const ToolImagesKept = fact('ToolImagesKept', {
  executionId: ExecutionId,
  toolId: z.string().max(200),
  images: z.array(z.object(imageFacts)),
  /** How many further images were not stored, because there were too many, or because they were too large or unreadable. */
  leftOut: z.int().nonnegative(),
})
