/** Reads the MCP servers that a repository suggests in its `.mcp.json`; nothing of the file is run, and no server is called. */
import { z } from 'zod'
import { mcpLimits } from '#domain/api/mcpServers.ts'
import { McpServerInput, type SuggestedMcpServer } from '#domain/api/mcpServers.schema.ts'
import { jsonOf } from '#platform/json.ts'
import type { RpcResponse, RpcRequest } from '#platform/ports/rpc.ts'
import { fetchedRepository } from '../rpc/repositoryFacts.ts'
import type { HostsDeps } from '../rpc/suggestedHosts.ts'
import { endedWell } from '../workspace/git/git.ts'

const maxBytes = 256 * 1024
const gitTimeoutMs = 2_000

/** The servers that the repository suggests; `undefined` if this runner lacks the repository, or fails. */
export async function suggestedServers(
  deps: HostsDeps,
  question: RpcRequest<'mcpSuggestions'>,
): Promise<RpcResponse<'mcpSuggestions'> | undefined> {
  const fetched = await fetchedRepository(deps, question).catch((fault: unknown) => {
    deps.logger.info({ err: fault }, 'failed to suggest MCP servers of a repository')
  })
  if (!fetched) return undefined
  const { gitDir, tree } = fetched
  const args = ['cat-file', 'blob', `${tree}:.mcp.json`]
  const file = await deps.git({ gitDir, args, timeoutMs: gitTimeoutMs, maxOutputBytes: maxBytes })
  return { suggestions: endedWell(file) ? serversIn(file.stdout.toString('utf8')) : [] }
}

const File = z.object({ mcpServers: z.record(z.string(), z.unknown()) })
const Entry = z.union([
  z.object({
    type: z.literal('stdio').optional(),
    command: z.string(),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
  }),
  z.object({
    type: z.enum(['http', 'streamable-http']),
    url: z.string(),
    headers: z.record(z.string(), z.string()).default({}),
  }),
])

/** The servers that can be added as they are. Values of variables and headers are left out: a person has to enter them as secrets. */
export function serversIn(text: string): readonly SuggestedMcpServer[] {
  const file = File.safeParse(jsonOf(text))
  if (!file.success) return []
  const found = Object.entries(file.data.mcpServers).slice(0, mcpLimits.servers)
  return found.flatMap(([name, entry]) => {
    const read = Entry.safeParse(entry)
    if (!read.success) return []
    const suggested = suggestionOf(name, read.data)
    return McpServerInput.safeParse(addedAs(suggested)).success ? [suggested] : []
  })
}

function suggestionOf(name: string, entry: z.infer<typeof Entry>): SuggestedMcpServer {
  if ('command' in entry) {
    const { command, args, env } = entry
    return { name, kind: 'local', command, args, secrets: Object.keys(env) }
  }
  return { name, kind: 'remote', url: entry.url, header: Object.keys(entry.headers)[0] ?? null }
}

function addedAs(suggested: SuggestedMcpServer): unknown {
  const common = { ...suggested, enabled: true, toolsOff: [] }
  if (suggested.kind === 'local') return common
  const { header } = suggested
  return { ...common, auth: header === null ? { kind: 'none' } : { kind: 'header', name: header } }
}
