/** What became of the MCP servers in a turn. */
import { z } from 'zod'
import { event } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

export const McpServerReport = z.object({
  name: z.string(),
  /** `left_out`: the agent was not told of it. */
  status: z.enum(['connected', 'failed', 'left_out']),
  /** `null` without a failure. */
  error: z.string().nullable(),
  tools: z.array(z.string()),
})
export type McpServerReport = z.infer<typeof McpServerReport>

/** The MCP servers of the agent, once it has begun; recorded again when that changes within a turn. */
export const McpServersReported = event('McpServersReported', 1, {
  data: z.object({ executionId: ExecutionId }),
  content: z.object({ servers: z.array(McpServerReport) }),
})
