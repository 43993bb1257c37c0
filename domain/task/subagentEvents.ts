/** What a sub-agent says while it works for a call of its agent. */
import { z } from 'zod'
import { agentNames } from '../agents.ts'
import { event } from '../kernel/event.schema.ts'
import { ExecutionId, MessageId } from '../kernel/ids.schema.ts'

/** It is said to the agent, not to the person: no answer of the turn. */
export const SubagentSaid = event('SubagentSaid', 1, {
  data: z.object({
    executionId: ExecutionId,
    messageId: MessageId,
    agent: z.enum(agentNames),
    /** The call that the sub-agent works for. */
    parentToolId: z.string().max(200),
    /** It was thought and not said. */
    isThought: z.boolean(),
  }),
  content: z.object({ text: z.string() }),
})
