/** The event for an agent's thoughts, which are kept apart from messages so that nobody takes them for an answer. */
import { z } from 'zod'
import { agentNames } from '../agents.ts'
import { event } from '../kernel/event.schema.ts'
import { ExecutionId, MessageId } from '../kernel/ids.schema.ts'

export const ThinkingRecorded = event('ThinkingRecorded', 1, {
  data: z.object({
    executionId: ExecutionId,
    messageId: MessageId,
    agent: z.enum(agentNames),
    /** How long the agent thought, in milliseconds; `null` when the thought arrived all at once. */
    durationMs: z.int().nonnegative().nullable(),
  }),
  content: z.object({ text: z.string() }),
})
