/** A text that a sub-agent writes while it works for a call of its agent. */
import { z } from 'zod'
import { agentNames } from '../agents.ts'
import { event } from '../kernel/event.schema.ts'
import { ExecutionId, MessageId } from '../kernel/ids.schema.ts'

/** A sub-agent wrote a text. It is for the agent, not for the person, so it is no answer of the turn. */
export const SubagentSaid = event('SubagentSaid', 1, {
  data: z.object({
    executionId: ExecutionId,
    messageId: MessageId,
    agent: z.enum(agentNames),
    /** The call that the sub-agent works for. */
    parentToolId: z.string().max(200),
    /** Whether the text is a thought. */
    isThought: z.boolean(),
  }),
  content: z.object({ text: z.string() }),
})
