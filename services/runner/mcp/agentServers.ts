/** The MCP servers of one agent: how the agent reaches them, and which parts stay outside of its sandbox. */
import { canDo } from '#domain/agents/capabilities.ts'
import type { McpServerReport } from '#domain/mcp/mcpReport.ts'
import type { Logger } from '#platform/log.ts'
import { ownServerName } from '../agents/ownTools.ts'
import type { Agent, McpServerForAgent } from '../agents/port.ts'
import { modelPort } from '../egress/relay.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { mcpGateway } from './gateway.ts'
import { ownServer, type OwnServer } from './ownServer.ts'
import type { ServersOfRun } from './runServers.ts'

interface Start {
  readonly agent: Pick<Agent, 'name' | 'ownTools' | 'hidesTools' | 'mcpLimit'>
  readonly backend: { readonly kind: 'broker' | 'key' }
  readonly sandbox: Pick<Sandbox, 'kind'>
  readonly workspace: { readonly taskId: string }
  readonly sandboxEnv: { readonly mcp?: ServersOfRun }
}

export interface McpOfAgent {
  readonly leftOut: readonly McpServerReport[]
  /** The last fault of each remote server, by the server's name. */
  faults(): ReadonlyMap<string, string>
  /** The states of the servers as far as they are known here, which may be more than the agent reports. */
  seen(): readonly McpServerReport[]
  /** Our own server, if the agent is given any of its tools. */
  readonly own?: OwnServer
}

/** The broker's address on the loopback of an agent; `port` is the broker's port for an agent without a sandbox. */
export const brokerOrigin = ({ kind }: Pick<Sandbox, 'kind'>, port: number) =>
  `http://127.0.0.1:${kind === 'none' ? port : modelPort}`

export function hasRemoteServers({ agent, backend, sandboxEnv: { mcp } }: Start): boolean {
  return canDo(agent.name, 'mcp') && backend.kind === 'broker' && (mcp?.remote.length ?? 0) > 0
}

export function mcpOf({ logger }: { readonly logger: Pick<Logger, 'warn'> }, start: Start) {
  const { agent, backend } = start
  const { taskId } = start.workspace
  const { local, remote, refused } = chosen(start)
  const own = agent.ownTools && backend.kind === 'broker' ? ownServer(agent.ownTools) : undefined
  const gateway =
    own !== undefined || hasRemoteServers(start)
      ? mcpGateway({
          servers: remote,
          ...(own && { own }),
          onFault: (server, message) => logger.warn({ server, message, taskId }, 'MCP server'),
        })
      : undefined
  const faults = () => gateway?.faults() ?? new Map<string, string>()
  const notListed = ['The agent got no list of its tools.', agent.mcpLimit ?? ''].join(' ').trimEnd()
  return {
    gateway,
    ...(own && { own }),
    leftOut: refused,
    faults,
    seen: (): readonly McpServerReport[] => [
      ...local.map(({ name }) =>
        own?.isListed() === false ? reportOf(name, 'failed', notListed) : reportOf(name, 'given', null),
      ),
      ...(gateway === undefined ? [] : remote).map(({ id, name }) => {
        const tools = gateway?.listed(id)
        const error = faults().get(name) ?? null
        return tools === undefined
          ? reportOf(name, 'failed', error ?? notListed)
          : reportOf(name, 'connected', error, tools)
      }),
    ],
    secrets: remote.flatMap(({ header }) => (header === null ? [] : [header.value])),
  }
}

/** Divides the servers into those that the agent gets, and those that are refused with a reason. */
function chosen({ agent, sandboxEnv: { mcp } }: Start) {
  const { local = [], remote = [], leftOut = [] } = mcp ?? {}
  const refusalOf = (name: string, toolsOff: readonly string[] = []): string | undefined => {
    if (!canDo(agent.name, 'mcp')) return 'This agent takes no MCP servers here.'
    if (agent.ownTools && name.toLowerCase() === ownServerName)
      return "Its name is that of Flightdeck's own server. Give it another one."
    if (toolsOff.length > 0 && agent.hidesTools === false)
      return 'Some of its tools are off, which this agent could use nevertheless.'
    return undefined
  }
  const refused = [
    ...local.map(({ name, toolsOff }) => ({ name, why: refusalOf(name, toolsOff) })),
    // `toolsOff` is no reason to refuse a remote server, because the gateway hides these tools from the agent.
    ...remote.map(({ name }) => ({ name, why: refusalOf(name) })),
  ].flatMap(({ name, why }) => (why === undefined ? [] : [reportOf(name, 'left_out', why)]))
  const isGiven = ({ name }: { readonly name: string }) => !refused.some((one) => one.name === name)
  return { local: local.filter(isGiven), remote: remote.filter(isGiven), refused: [...leftOut, ...refused] }
}

const reportOf = (
  name: string,
  status: McpServerReport['status'],
  error: string | null,
  tools: readonly string[] = [],
): McpServerReport => ({ name, status, error, tools: [...tools] })

/** The servers for an agent. `port` is the broker's port on the loopback, for an agent without a sandbox. */
export function mcpServersFor(
  start: Start,
  { runToken, port }: { readonly runToken: string; readonly port: number },
): readonly McpServerForAgent[] {
  const origin = brokerOrigin(start.sandbox, port)
  const { local, remote } = chosen(start)
  const own =
    start.agent.ownTools && start.backend.kind === 'broker'
      ? [{ id: ownServerName, name: ownServerName, toolsOff: [] }]
      : []
  return [
    ...local.map((server) => ({ ...server, kind: 'stdio' as const })),
    ...[...own, ...remote].map(({ id, name, toolsOff }) => ({
      name,
      toolsOff,
      kind: 'http' as const,
      url: `${origin}/mcp/${id}`,
      bearer: runToken,
    })),
  ]
}
