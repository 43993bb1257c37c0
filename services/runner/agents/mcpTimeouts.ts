/** How long an agent waits for a call to an MCP server, in milliseconds. */

/** Longer than our MCP gateway waits, so that the gateway gives up first and can report the reason. */
export const mcpCallTimeoutMs = 620_000

/** For the tools of our own server: longer than `QUESTION_HOURS` can be, and as long as a timer can wait. */
export const ownToolTimeoutMs = 2_100_000_000
