/** The states of an agent's MCP servers: the type, and the event that records them. */
import { z } from 'zod'
import { event } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

export const McpServerReport = z.object({
  name: z.string(),
  /**
   * `given`: the agent was told about the server, but does not report whether it could connect. `left_out`: the agent was not told about the server.
   */
  status: z.enum(['connected', 'given', 'failed', 'left_out']),
  /** What is wrong with the server, or why it was left out; `null` if nothing is wrong. A connected server may have a fault too. */
  error: z.string().nullable(),
  tools: z.array(z.string()),
})
export type McpServerReport = z.infer<typeof McpServerReport>

/** The states of the agent's MCP servers, recorded when the agent has started, and again at the turn's end if a state has changed. */
export const McpServersReported = event('McpServersReported', 1, {
  data: z.object({ executionId: ExecutionId }),
  content: z.object({ servers: z.array(McpServerReport) }),
})
