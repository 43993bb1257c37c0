/** The lines of the Agent Client Protocol, version 1, that are read here: https://agentclientprotocol.com. Other lines are skipped. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'
import type { McpServerForAgent } from '../port.ts'

const RequestId = z.union([z.number(), z.string().max(200)])
export type RequestId = z.infer<typeof RequestId>

const Text = z.object({ type: z.literal('text'), text: z.string() })
const Content = z.union([Text, z.object({ type: z.string() }).transform(() => ({ type: 'other' as const }))])

const ToolContent = z.union([
  z.object({ type: z.literal('content'), content: Content }),
  z.object({
    type: z.literal('diff'),
    path: z.string(),
    oldText: z.string().nullish(),
    newText: z.string(),
  }),
  z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
])
export type ToolContent = z.infer<typeof ToolContent>

const Fields = z.record(z.string(), z.unknown())

const Tool = z.object({
  toolCallId: z.string().min(1).max(1_000),
  title: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.enum(['pending', 'in_progress', 'completed', 'failed']).nullish(),
  locations: z.array(z.object({ path: z.string() })).nullish(),
  content: z.array(ToolContent).nullish(),
  rawInput: Fields.nullish(),
  rawOutput: z.unknown().optional(),
})
export type Tool = z.infer<typeof Tool>

const Chunk = z.object({ messageId: z.string().nullish(), content: Content })
const Update = z.union([
  Chunk.extend({ sessionUpdate: z.enum(['agent_message_chunk', 'agent_thought_chunk']) }),
  Tool.extend({ sessionUpdate: z.enum(['tool_call', 'tool_call_update']) }),
  z.object({
    sessionUpdate: z.literal('plan'),
    entries: z.array(z.object({ content: z.string(), status: z.string() })),
  }),
  z.object({
    sessionUpdate: z.literal('usage_update'),
    used: z.int().nonnegative(),
    size: z.int().positive(),
  }),
  z.object({ sessionUpdate: z.string() }).transform(() => ({ sessionUpdate: 'other' as const })),
])
export type Update = z.infer<typeof Update>

const PermissionOption = z.object({ optionId: z.string(), kind: z.string() })
export const PermissionRequest = z.object({
  sessionId: z.string(),
  toolCall: Tool,
  options: z.array(PermissionOption).max(50),
})
export type PermissionRequest = z.infer<typeof PermissionRequest>

const version = { jsonrpc: z.literal('2.0') }
const Line = z.union([
  z
    .object({ ...version, method: z.string(), id: RequestId, params: z.unknown().optional() })
    .transform((line) => ({
      ...line,
      type: 'request' as const,
    })),
  z
    .object({
      ...version,
      method: z.literal('session/update'),
      params: z.object({ sessionId: z.string(), update: Update }),
    })
    .transform(({ params }) => ({ ...params, type: 'update' as const })),
  z.object({ ...version, method: z.string() }).transform(() => ({ type: 'other' as const })),
  z
    .object({
      ...version,
      id: RequestId,
      error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
    })
    .transform((line) => ({ ...line, type: 'refused' as const })),
  z
    .object({ ...version, id: RequestId, result: z.unknown().optional() })
    .transform((line) => ({ ...line, type: 'answered' as const })),
])
export type AcpLine = z.infer<typeof Line>

export const Initialized = z.object({
  protocolVersion: z.literal(1),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().optional(),
      mcpCapabilities: z.object({ http: z.boolean().optional() }).optional(),
    })
    .optional(),
})
export const SessionOpened = z.object({
  sessionId: z.string().min(1).max(200).optional(),
  models: z.object({ currentModelId: z.string() }).nullish().catch(null),
  configOptions: z
    .array(z.object({ category: z.string().nullish(), currentValue: z.unknown().optional() }))
    .nullish()
    .catch(null),
})
export const PromptEnded = z.object({ stopReason: z.string() })

/** Reads a line; `unknown` when it does not belong to the protocol. */
export function readAcpLine(text: string): AcpLine | 'unknown' {
  return Line.safeParse(jsonOf(text)).data ?? 'unknown'
}

/** An MCP server in the form in which a request to open a session names it. */
export function mcpServerOf(server: McpServerForAgent): object {
  const { name } = server
  if (server.kind === 'http')
    return {
      type: 'http',
      name,
      url: server.url,
      headers: [{ name: 'Authorization', value: `Bearer ${server.bearer}` }],
    }
  const { command, args, env } = server
  return {
    name,
    command,
    args,
    env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
  }
}

export const requestLine = (id: number, method: string, params: object): string =>
  written({ id, method, params })
export const noticeLine = (method: string, params: object): string => written({ method, params })
export const answerLine = (id: RequestId, result: object): string => written({ id, result })
export const refusalLine = (id: RequestId): string =>
  written({ id, error: { code: -32_601, message: 'This is not offered here.' } })

const written = (line: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`
