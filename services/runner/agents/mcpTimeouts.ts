/** How long an agent waits for a call to an MCP server, in milliseconds. */

/** Longer than our MCP gateway waits, so that the gateway gives up first and can report the reason. */
export const mcpCallTimeoutMs = 620_000

/**
 * For calls that may wait for a person, such as those to the tools of our own server: longer than the setting `QUESTION_HOURS` allows, and about as
 * long as a timer can run.
 */
export const ownToolTimeoutMs = 2_100_000_000
