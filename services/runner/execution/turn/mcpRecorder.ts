/** Records the states of the agent's MCP servers, and their faults. */
import { mcpServerWords } from '#domain/history/eventRows.ts'
import { McpServersReported, type McpServerReport } from '#domain/mcp/mcpReport.ts'
import type { FoundMcpServer } from '../../agents/port.ts'
import type { Fence } from '#domain/task/commands.ts'
import type { EventRecorder } from './agentEvents.ts'
import type { McpOfAgent } from '../../mcp/agentServers.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import type { Reporter } from '../recording/reporter.ts'
import type { RunOutput } from '../recording/terminalOutput.ts'

const maxTools = 200
const maxToolName = 128

interface RecordedServers {
  readonly fence: Fence
  readonly mcp: McpOfAgent
  readonly reporter: Reporter
  readonly redaction: Redaction
  readonly output: RunOutput
}

/** Records the states of the MCP servers once the session is open, and again at the end of the turn if something has changed. */
export function recordingMcp(recorder: EventRecorder, turn: RecordedServers): EventRecorder {
  const {
    fence: { executionId },
    mcp,
    reporter,
    redaction,
    output,
  } = turn
  let found: readonly FoundMcpServer[] | undefined
  let reported = '[]'
  return {
    ...recorder,
    async record(event) {
      if (event.type === 'mcp_servers') found = event.servers
      await recorder.record(event)
      if (event.type !== 'session' && event.type !== 'end') return
      const servers = [...statesOf(mcp, found).map(limited), ...mcp.leftOut]
      const now = JSON.stringify(servers)
      if (now === reported) return
      reported = now
      const shown = await Promise.all(
        servers.map(async (server) => ({ ...server, tools: await redacted(server.tools) })),
      )
      await output.stderr.write(shown.map((server) => `MCP server ${mcpServerWords(server)}\n`).join(''))
      await reporter.report(McpServersReported.of({ executionId }, { servers: shown }))
    },
  }

  async function redacted(names: readonly string[]): Promise<string[]> {
    return names.length === 0 ? [] : (await redaction.text(names.join('\n'))).split('\n')
  }
}

/**
 * The states of the servers. The agent reports them as they were when the session opened. A server that was not connected then counts as connected
 * once the agent has got the list of its tools.
 */
export function statesOf(
  mcp: Pick<McpOfAgent, 'seen' | 'faults'>,
  found: readonly FoundMcpServer[] | undefined,
): readonly McpServerReport[] {
  const seen = mcp.seen()
  if (found === undefined) return seen
  return found.map(({ name, isConnected, tools }) => {
    const here = seen.find((server) => server.name === name)
    if (!isConnected && here?.status === 'connected') return here
    const error = mcp.faults().get(name) ?? (isConnected ? null : (here?.error ?? null))
    return { name, status: isConnected ? 'connected' : 'failed', error, tools: [...tools] }
  })
}

const limited = (server: McpServerReport): McpServerReport => ({
  ...server,
  tools: server.tools.slice(0, maxTools).map((tool) => tool.slice(0, maxToolName)),
})
