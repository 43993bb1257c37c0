/** The event that records how full the context window of an agent's model is. */
import { z } from 'zod'
import { fact } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

const ContextUse = z.object({ usedTokens: z.int().nonnegative(), windowTokens: z.int().positive() })
export type ContextUse = Readonly<z.infer<typeof ContextUse>>

export const ContextMeasured = fact('ContextMeasured', {
  executionId: ExecutionId,
  /** The agent's last report; `null` after the conversation was summarized, until the next report. */
  context: ContextUse.nullable(),
})
