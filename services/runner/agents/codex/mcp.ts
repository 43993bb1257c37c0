/** Tells `codex` which MCP servers to start, and reads what codex reports about them. */
import { z } from 'zod'
import type { FoundMcpServer, McpServerForAgent } from '../port.ts'
import { mcpCallTimeoutMs } from '../mcpTimeouts.ts'
import { tokenVariable } from './home.ts'

/**
 * Variables that a local MCP server needs to reach the network. codex passes a variable on to a server only if the configuration of the server names
 * it.
 */
const network = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'http_proxy',
  'https_proxy',
  'NO_PROXY',
  'no_proxy',
  'NODE_USE_ENV_PROXY',
]

/**
 * The arguments that configure the MCP servers. Other users of the machine can see them if there is no sandbox. So instead of secrets, they have the
 * names of the variables that hold them.
 */
export function mcpArguments(servers: readonly McpServerForAgent[]): readonly string[] {
  return servers.flatMap(({ name, toolsOff, ...server }) => {
    const entry = {
      ...(server.kind === 'http'
        ? {
            url: server.url,
            bearer_token_env_var: tokenVariable,
            // Our MCP gateway gives up on a start after 10 s and reports the reason. codex must wait longer than that; if its own limit ended the
            // start, codex would try twice more.
            startup_timeout_sec: 15,
          }
        : {
            command: server.command,
            args: server.args,
            env_vars: [...new Set([...Object.keys(server.env), ...network])],
            startup_timeout_sec: 25,
          }),
      disabled_tools: toolsOff,
      // In the mode in which codex asks, it asks before each use of a tool of this server.
      default_tools_approval_mode: 'prompt',
      tool_timeout_sec: mcpCallTimeoutMs / 1_000,
    }
    return ['--config', `mcp_servers.${name}=${toml(entry)}`]
  })
}

/** A value in TOML, whose strings are written as in JSON. */
function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`
  if (typeof value !== 'object' || value === null)
    return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
  const entries = Object.entries(value).map(([key, one]) => `${key} = ${toml(one)}`)
  return `{ ${entries.join(', ')} }`
}

const Statuses = z.object({
  data: z.array(
    z.object({
      name: z.string(),
      runtimeStatus: z.string().nullish(),
      tools: z.record(z.string(), z.unknown()),
    }),
  ),
})

/** Reads the state of the server `name` from codex's answer to `mcpServerStatus/list`. */
export function serverIn(result: unknown, name: string): FoundMcpServer {
  const found = Statuses.safeParse(result).data?.data.find((one) => one.name === name)
  const tools = Object.keys(found?.tools ?? {}).toSorted()
  return { name, isConnected: found?.runtimeStatus === 'connected', tools }
}
