/** The lines of `codex app-server`, JSON-RPC on standard input and output, as far as they are read here. Other lines are skipped. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'
import { ElicitationFields } from '../elicitation.ts'

const RequestId = z.union([z.number(), z.string().max(200)])
export type RequestId = z.infer<typeof RequestId>

const id = z.string().min(1).max(1_000)
const Command = z.object({
  type: z.literal('commandExecution'),
  id,
  command: z.string(),
  aggregatedOutput: z.string().nullish(),
  exitCode: z.number().int().nullish(),
  status: z.string(),
})
const Change = z.object({ path: z.string(), kind: z.object({ type: z.string() }), diff: z.string() })
export type Change = z.infer<typeof Change>
const FileChange = z.object({
  type: z.literal('fileChange'),
  id,
  changes: z.array(Change),
  status: z.string(),
})
const McpCall = z.object({
  type: z.literal('mcpToolCall'),
  id,
  server: z.string(),
  tool: z.string(),
  arguments: z.unknown().optional(),
  status: z.string(),
  result: z.object({ content: z.array(z.unknown()) }).nullish(),
  error: z.object({ message: z.string() }).nullish(),
})
const ImageView = z.object({ type: z.literal('imageView'), id, path: z.string() })
const ToolItem = z.discriminatedUnion('type', [Command, FileChange, McpCall, ImageView])
export type ToolItem = z.infer<typeof ToolItem>

const Item = z.union([
  ToolItem,
  z.object({ type: z.literal('userMessage'), id, clientId: z.string().nullish() }),
  z.object({ type: z.literal('agentMessage'), id, text: z.string() }),
  z.object({ type: z.literal('plan'), id, text: z.string() }),
  z.object({
    type: z.literal('reasoning'),
    id,
    summary: z.array(z.string()),
    content: z.array(z.string()).default([]),
  }),
  z.object({ type: z.literal('contextCompaction'), id }),
  z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
])
export type Item = z.infer<typeof Item>

const ErrorWords = z.object({ message: z.string(), additionalDetails: z.string().nullish() })
const Step = z.object({ step: z.string(), status: z.string() })
const TokenUsage = z.object({
  last: z.object({ totalTokens: z.int().nonnegative() }),
  modelContextWindow: z.int().positive(),
})
const told = <const Method extends string, Shape extends z.ZodRawShape>(method: Method, shape: Shape) =>
  z.object({ method: z.literal(method), params: z.object({ threadId: z.string() }).extend(shape) })
const Told = z.discriminatedUnion('method', [
  told('turn/started', { turn: z.object({ id }) }),
  told('turn/completed', { turn: z.object({ id, status: z.string(), error: ErrorWords.nullish() }) }),
  told('turn/plan/updated', { plan: z.array(Step) }),
  told('thread/tokenUsage/updated', { tokenUsage: TokenUsage.nullable().catch(null) }),
  told('item/started', { item: Item }),
  told('item/completed', { item: Item }),
  told('item/agentMessage/delta', { itemId: id, delta: z.string() }),
  told('item/reasoning/summaryTextDelta', { itemId: id, delta: z.string() }),
  told('item/reasoning/summaryPartAdded', { itemId: id }),
  told('error', { error: ErrorWords, willRetry: z.boolean() }),
  told('warning', { threadId: z.string().nullish(), message: z.string() }),
  told('serverRequest/resolved', { requestId: RequestId }),
])
export type Told = z.infer<typeof Told>

const Envelope = z.object({
  id: RequestId.optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})

export type CodexLine =
  | { readonly type: 'told'; readonly told: Told }
  | { readonly type: 'request'; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly type: 'answered'; readonly id: RequestId; readonly result: unknown }
  | { readonly type: 'refused'; readonly id: RequestId; readonly message: string }

export function readCodexLine(line: string): CodexLine | 'silent' | 'unknown' {
  const { data } = Envelope.safeParse(jsonOf(line))
  if (data === undefined) return 'unknown'
  const { id: of, method, params, result, error } = data
  if (method !== undefined && of !== undefined) return { type: 'request', id: of, method, params }
  if (method !== undefined) {
    const read = Told.safeParse(data)
    if (read.success) return { type: 'told', told: read.data }
    // A line with a method that we do not read is skipped (`silent`). One with a method that we read is malformed (`unknown`).
    return read.error.issues.some(({ path }) => path[0] === 'method') ? 'silent' : 'unknown'
  }
  if (of === undefined) return 'unknown'
  return error === undefined
    ? { type: 'answered', id: of, result }
    : { type: 'refused', id: of, message: error.message }
}

export const ThreadOpened = z.object({ thread: z.object({ id: z.string().min(1) }), model: z.string() })
export const TurnBegun = z.object({ turn: z.object({ id: z.string() }) })

export const CommandApproval = z.object({
  kind: z.string().default('command'),
  reason: z.string().nullish(),
  command: z.string(),
  cwd: z.string().nullish(),
})
export type CommandApproval = z.infer<typeof CommandApproval>
export const ChangeApproval = z.object({ itemId: z.string(), reason: z.string().nullish() })
export const UserInput = z.object({
  questions: z
    .array(
      z.object({
        id: z.string(),
        header: z.string().default(''),
        question: z.string(),
        // A question for a secret does not match and so is not asked, because answers are recorded.
        isSecret: z.literal(false).default(false),
        options: z.array(z.object({ label: z.string(), description: z.string().default('') })).nullish(),
      }),
    )
    .min(1),
})
export type UserInput = z.infer<typeof UserInput>
/** The parameters of codex's request for permission to use a tool of an MCP server. */
export const ToolApproval = z.object({
  serverName: z.string(),
  message: z.string(),
  _meta: z.object({
    codex_approval_kind: z.literal('mcp_tool_call'),
    tool_params: z.unknown().optional(),
  }),
})
export type ToolApproval = z.infer<typeof ToolApproval>
/** The request of an MCP server that asks the person for values or to open a page. */
export const Elicitation = z.object({
  serverName: z.string(),
  message: z.string(),
  url: z.string().optional(),
  requestedSchema: ElicitationFields.optional(),
})
export type Elicitation = z.infer<typeof Elicitation>

export const requestLine = (of: RequestId, method: string, params: object): string =>
  written({ id: of, method, params })
export const noticeLine = (method: string): string => written({ method })
export const answerLine = (of: RequestId, result: object): string => written({ id: of, result })
export const refusalLine = (of: RequestId): string =>
  written({ id: of, error: { code: -32_601, message: 'This is not supported here.' } })

const written = (line: object): string => `${JSON.stringify(line)}\n`
