/** The MCP servers of one agent: how the agent reaches them, and which parts stay outside of its sandbox. */
import { canDo } from '#domain/agents/capabilities.ts'
import type { McpServerReport } from '#domain/mcp/mcpReport.ts'
import type { Logger } from '#platform/log.ts'
import type { Agent, McpServerForAgent } from '../agents/port.ts'
import { modelPort } from '../egress/relay.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { mcpGateway } from './gateway.ts'
import type { LocalServer, ServersOfRun } from './serversOfRun.ts'

interface Start {
  readonly agent: Pick<Agent, 'name' | 'hidesTools' | 'mcpLimit'>
  readonly backend: { readonly kind: 'broker' | 'key' }
  readonly sandbox: Pick<Sandbox, 'kind'>
  readonly workspace: { readonly taskId: string }
  readonly sandboxEnv: { readonly mcp?: ServersOfRun }
}

export interface McpOfAgent {
  readonly leftOut: readonly McpServerReport[]
  /** The last fault of each remote server, by the server's name. */
  faults(): ReadonlyMap<string, string>
  /** What is known of the servers of an agent that does not report them. */
  seen(): readonly McpServerReport[]
}

/** The broker's address on the loopback of an agent; `port` is the broker's port for an agent without a sandbox. */
export const brokerOrigin = ({ kind }: Pick<Sandbox, 'kind'>, port: number) =>
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
  const { agent } = start
  const refused = canDo(agent.name, 'mcp')
    ? local.filter((server) => !isGiven(agent, server)).map(({ name }) => leftOutOf(name, notHidden))
    : [...local, ...remote].map(({ name }) => leftOutOf(name, 'This agent takes no MCP servers here.'))
  const faults = () => gateway?.faults() ?? new Map<string, string>()
  const notListed = ['The agent got no list of its tools.', agent.mcpLimit ?? ''].join(' ').trimEnd()
  return {
    gateway,
    leftOut: [...leftOut, ...refused],
    faults,
    seen: (): readonly McpServerReport[] => [
      ...givenLocal(start).map(({ name }) => ({ name, status: 'given' as const, error: null, tools: [] })),
      ...(gateway === undefined ? [] : remote).map(({ id, name }) => {
        const tools = gateway?.listed(id)
        const error = faults().get(name) ?? null
        return tools === undefined
          ? { name, status: 'failed' as const, error: error ?? notListed, tools: [] }
          : { name, status: 'connected' as const, error, tools: [...tools] }
      }),
    ],
    secrets: remote.flatMap(({ header }) => (header === null ? [] : [header.value])),
  }
}

/** Whether the agent gets a local server: not when it could use tools that are switched off. */
const isGiven = ({ hidesTools }: Start['agent'], { toolsOff }: LocalServer): boolean =>
  hidesTools !== false || toolsOff.length === 0

const notHidden = 'Some of its tools are off, which this agent could use nevertheless.'

const leftOutOf = (name: string, error: string): McpServerReport => ({
  name,
  status: 'left_out',
  error,
  tools: [],
})

const givenLocal = ({ agent, sandboxEnv: { mcp } }: Start): readonly LocalServer[] =>
  canDo(agent.name, 'mcp') ? (mcp?.local ?? []).filter((server) => isGiven(agent, server)) : []

/** The servers for an agent. `port` is the broker's port on the loopback, for an agent without a sandbox. */
export function mcpServersFor(
  start: Start,
  { runToken, port }: { readonly runToken: string; readonly port: number },
): readonly McpServerForAgent[] {
  const origin = brokerOrigin(start.sandbox, port)
  const remote = canDo(start.agent.name, 'mcp') ? start.sandboxEnv.mcp?.remote : undefined
  return [
    ...givenLocal(start).map((server) => ({ ...server, kind: 'stdio' as const })),
    ...(remote ?? []).map(({ id, name, toolsOff }) => ({
      name,
      toolsOff,
      kind: 'http' as const,
      url: `${origin}/mcp/${id}`,
      bearer: runToken,
    })),
  ]
}
