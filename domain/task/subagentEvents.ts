/** The event for a text that a subagent writes. */
import { z } from 'zod'
import { agentNames } from '../agents.ts'
import { event } from '../kernel/event.schema.ts'
import { ExecutionId, MessageId } from '../kernel/ids.schema.ts'

/** A subagent wrote a text. The text is for the agent, not for the person, so it is not the answer of the turn. */
export const SubagentSaid = event('SubagentSaid', 1, {
  data: z.object({
    executionId: ExecutionId,
    messageId: MessageId,
    agent: z.enum(agentNames),
    /** The id of the tool call with which the agent started the subagent. */
    parentToolId: z.string().max(200),
    /** Whether the text is a thought. */
    isThought: z.boolean(),
  }),
  content: z.object({ text: z.string() }),
})
