/** What an agent thinks before it answers: an event of its own, so that nobody takes it for an answer. */
import { z } from 'zod'
import { agentNames } from '../agents.ts'
import { event } from '../kernel/event.schema.ts'
import { ExecutionId, MessageId } from '../kernel/ids.schema.ts'

export const ThinkingRecorded = event('ThinkingRecorded', 1, {
  data: z.object({
    executionId: ExecutionId,
    messageId: MessageId,
    agent: z.enum(agentNames),
    /** How long the agent thought; `null` when the thought arrived as a whole. */
    durationMs: z.int().nonnegative().nullable(),
  }),
  content: z.object({ text: z.string() }),
})
