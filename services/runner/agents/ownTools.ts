/**
 * The tools of our own MCP server, for agents that have no such tools themselves. The server with these tools is in services/runner/mcp/ownServer.ts.
 */

export const ownTools = ['ask_person', 'update_todo_list'] as const
export type OwnTool = (typeof ownTools)[number]

/** The name of our own MCP server, which is also its id. The broker serves it at `ownServerPath`. */
export const ownServerName = 'flightdeck'
export const ownServerPath = `/mcp/${ownServerName}`
