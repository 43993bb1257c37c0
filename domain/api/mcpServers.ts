/** MCP servers of a project or a person: routes, the path of the callback, and limits. */
import type { Routes } from './route.ts'

export const mcpServerRoutes = {
  getProjectMcpServers: { method: 'GET', path: '/projects/:projectId/mcp-servers' },
  setProjectMcpServers: { method: 'PUT', path: '/projects/:projectId/mcp-servers' },
  testProjectMcpServer: { method: 'POST', path: '/projects/:projectId/mcp-servers/:serverId/test' },
  beginProjectMcpSignIn: { method: 'POST', path: '/projects/:projectId/mcp-servers/:serverId/sign-in' },
  endProjectMcpSignIn: { method: 'DELETE', path: '/projects/:projectId/mcp-servers/:serverId/sign-in' },
  getOwnMcpServers: { method: 'GET', path: '/profile/mcp-servers' },
  setOwnMcpServers: { method: 'PUT', path: '/profile/mcp-servers' },
  testOwnMcpServer: { method: 'POST', path: '/profile/mcp-servers/:serverId/test' },
  beginOwnMcpSignIn: { method: 'POST', path: '/profile/mcp-servers/:serverId/sign-in' },
  endOwnMcpSignIn: { method: 'DELETE', path: '/profile/mcp-servers/:serverId/sign-in' },
  finishMcpSignIn: { method: 'POST', path: '/mcp-sign-in' },
} as const satisfies Routes

/** The path of the page to which a sign-in returns. */
export const mcpCallbackPath = '/mcp/callback'

export const mcpLimits = {
  servers: 20,
  nameLength: 40,
  /** The most characters of a command, an argument or an address. */
  wordLength: 4_000,
  args: 50,
  /** The most characters of all servers' commands and switched-off tools together, because the agent's program may get them all in one argument. */
  commandLength: 48_000,
  secrets: 20,
  tools: 200,
  toolNameLength: 128,
  valueLength: 4_096,
  /** The fewest characters of a header's value, because redacting shorter values would redact ordinary words. */
  valueAtLeast: 8,
} as const
