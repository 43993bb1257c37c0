/** The MCP servers of one agent: how the agent reaches them, and which parts stay outside of its sandbox. */
import { canDo } from '#domain/agents/capabilities.ts'
import type { McpServerReport } from '#domain/mcp/mcpReport.ts'
import type { Logger } from '#platform/log.ts'
import type { Agent, McpServerForAgent } from '../agents/port.ts'
import { modelPort } from '../egress/relay.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { mcpGateway } from './gateway.ts'
import type { ServersOfRun } from './serversOfRun.ts'

interface Start {
  readonly agent: Pick<Agent, 'name'>
  readonly backend: { readonly kind: 'broker' | 'key' }
  readonly sandbox: Sandbox
  readonly workspace: { readonly taskId: string }
  readonly sandboxEnv: { readonly mcp?: ServersOfRun }
}

export interface McpOfAgent {
  readonly leftOut: readonly McpServerReport[]
  /** The last fault of each remote server, by the server's name. */
  faults(): ReadonlyMap<string, string>
}

/** The broker's address on the loopback of an agent; `port` is the broker's port for an agent without a sandbox. */
export const brokerOrigin = ({ kind }: Sandbox, port: number) =>
  `http://127.0.0.1:${kind === 'none' ? port : modelPort}`

export function hasRemoteServers({ agent, backend, sandboxEnv: { mcp } }: Start): boolean {
  return canDo(agent.name, 'mcp') && backend.kind === 'broker' && (mcp?.remote.length ?? 0) > 0
}

export function mcpOf({ logger }: { readonly logger: Pick<Logger, 'warn'> }, start: Start) {
  const { local = [], remote = [], leftOut = [] } = start.sandboxEnv.mcp ?? {}
  const { taskId } = start.workspace
  const gateway = hasRemoteServers(start)
    ? mcpGateway({
        servers: remote,
        onFault: (server, message) => logger.warn({ server, message, taskId }, 'MCP server'),
      })
    : undefined
  const unused = canDo(start.agent.name, 'mcp') ? [] : [...local, ...remote]
  return {
    gateway,
    leftOut: [...leftOut, ...unused.map(({ name }) => ({ name, ...notTaken }))],
    faults: () => gateway?.faults() ?? new Map<string, string>(),
    secrets: remote.flatMap(({ header }) => (header === null ? [] : [header.value])),
  }
}

const notTaken = {
  status: 'left_out' as const,
  error: 'This agent takes no MCP servers here.',
  tools: [],
}

/** The servers for an agent. `port` is the broker's port on the loopback, for an agent without a sandbox. */
export function mcpServersFor(
  { agent, sandbox, sandboxEnv: { mcp } }: Start,
  { runToken, port }: { readonly runToken: string; readonly port: number },
): readonly McpServerForAgent[] {
  if (mcp === undefined || !canDo(agent.name, 'mcp')) return []
  const origin = brokerOrigin(sandbox, port)
  return [
    ...mcp.local.map((server) => ({ ...server, kind: 'stdio' as const })),
    ...mcp.remote.map(({ id, name, toolsOff }) => ({
      name,
      toolsOff,
      kind: 'http' as const,
      url: `${origin}/mcp/${id}`,
      bearer: runToken,
    })),
  ]
}
