/** The tools of our own MCP server, for agents that have no such tools themselves. They are served in services/runner/mcp/ownServer.ts. */

export const ownTools = ['ask_person', 'update_todo_list'] as const
export type OwnTool = (typeof ownTools)[number]

/** The name of the server, which is its id as well: the broker serves it at this path. */
export const ownServerName = 'flightdeck'
export const ownServerPath = `/mcp/${ownServerName}`
