/** The lines that `claude --output-format stream-json` prints, as far as we read them. Other lines are skipped. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'
import { ElicitationFields } from '../elicitation.ts'

const text = z.object({ type: z.literal('text'), text: z.string() })
const thinking = z.object({ type: z.literal('thinking'), thinking: z.string() })
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
})
const other = z.object({ type: z.string().transform(() => 'other' as const) })
const image = z.object({
  type: z.literal('image'),
  source: z.object({ type: z.literal('base64'), data: z.string() }),
})
/** Parts of a tool's result other than text and images: documents, and references to other tools. */
const notText = z.object({ type: z.string(), tool_name: z.string().optional() })
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.union([text, image, notText]))]).optional(),
  is_error: z.boolean().nullish(),
})
export type ToolResult = z.infer<typeof toolResult>

/** The ids of the messages that a line is about. We gave these ids to claude with the messages. */
const messageIds = z.array(z.string()).optional()
const sessionId = z.string().default('')
/** For a line of a sub-agent, the id of the tool call that started it; `null` for a line of the main agent. */
const parent = z.string().nullable().default(null)

const system = z.object({
  type: z.literal('system'),
  subtype: z.string(),
  session_id: sessionId,
  user_message_uuids: messageIds,
  status: z.string().nullish(),
  model: z.string().optional(),
  cwd: z.string().optional(),
  uuid: z.string().optional(),
  compact_metadata: z.object({ trigger: z.string().optional() }).optional(),
  attempt: z.number().optional(),
  max_retries: z.number().optional(),
  retry_delay_ms: z.number().optional(),
  error_status: z.number().nullish(),
  tool_name: z.string().optional(),
  mcp_servers: z
    .array(z.object({ name: z.string(), status: z.string() }))
    .optional()
    .catch(undefined),
  tools: z.array(z.string()).optional().catch(undefined),
  message: z.unknown().optional(),
  content: z.unknown().optional(),
})

const streamEvent = z.object({
  type: z.literal('stream_event'),
  parent_tool_use_id: parent,
  // The forms are tried in this order, so the most frequent one, a piece of text, comes first.
  event: z.union([
    z.object({
      type: z.literal('content_block_delta'),
      index: z.number(),
      delta: z.union([
        z.object({ type: z.literal('text_delta'), text: z.string() }),
        z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
        other,
      ]),
    }),
    z.object({
      type: z.literal('message_start'),
      message: z.object({
        id: z.string(),
        model: z.string().default(''),
        usage: z
          .object({
            input_tokens: z.int().default(0),
            cache_read_input_tokens: z.int().nullish(),
            cache_creation_input_tokens: z.int().nullish(),
          })
          .optional()
          .catch(undefined),
      }),
    }),
    z.object({ type: z.literal('message_delta'), usage: z.object({ output_tokens: z.int().nonnegative() }) }),
    z.object({
      type: z.literal('content_block_start'),
      index: z.number(),
      content_block: z.object({ type: z.string() }),
    }),
    other,
  ]),
})
export type StreamEvent = z.infer<typeof streamEvent>['event']

const assistant = z.object({
  type: z.literal('assistant'),
  parent_tool_use_id: parent,
  message: z.object({ id: z.string(), content: z.array(z.union([text, thinking, toolUse, other])) }),
  aborted: z.boolean().optional(),
  is_api_error_message: z.boolean().optional(),
})
export type AssistantLine = z.infer<typeof assistant>

const user = z.object({
  type: z.literal('user'),
  message: z.object({ content: z.union([z.string(), z.array(z.union([toolResult, other]))]) }),
  tool_use_result: z.unknown().optional(),
})
export type UserLine = z.infer<typeof user>

const modelUsage = z.record(
  z.string(),
  z.object({
    inputTokens: z.number().default(0),
    outputTokens: z.number().default(0),
    cacheReadInputTokens: z.number().default(0),
    cacheCreationInputTokens: z.number().default(0),
    costUSD: z.number().default(0),
    contextWindow: z.int().positive().optional().catch(undefined),
  }),
)
export type ModelUsageByModel = z.infer<typeof modelUsage>

const result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  session_id: sessionId,
  api_error_status: z.number().nullish(),
  api_error_type: z.string().nullish(),
  terminal_reason: z.string().nullish(),
  user_message_uuids: messageIds,
  num_turns: z.number().default(0),
  duration_ms: z.number().default(0),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  /** The total usage of the process; newer versions of claude report the total of the session. */
  modelUsage: modelUsage.default({}),
  model_usage_since_last_result: modelUsage.optional(),
})
export type ResultLine = z.infer<typeof result>

/** The state of a message that was sent to claude, or of something that claude does on its own. */
const lifecycle = z.object({
  type: z.literal('command_lifecycle'),
  command_uuid: z.string(),
  state: z.string(),
})

const rule = z.object({ toolName: z.string(), ruleContent: z.string().optional() })
const canUseTool = z.object({
  subtype: z.literal('can_use_tool'),
  tool_name: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
  permission_suggestions: z
    .array(z.looseObject({ type: z.string(), rules: z.array(rule).optional() }))
    .default([]),
  suppress_always_allow_rule: z.boolean().optional(),
})
const elicitation = z.object({
  subtype: z.literal('elicitation'),
  mcp_server_name: z.string(),
  message: z.string(),
  url: z.string().optional(),
  /** `null` when the form cannot be read, for example because a field has several values. */
  requested_schema: ElicitationFields.nullable().catch(null).optional(),
})
const otherRequest = z.object({ subtype: z.string().transform(() => 'other' as const) })
const controlRequest = z.object({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.union([canUseTool, elicitation, otherRequest]),
})
export type ControlRequest = z.infer<typeof controlRequest>
const controlCancel = z.object({ type: z.literal('control_cancel_request'), request_id: z.string() })

/** The answer to one of our own requests; for `list_models` it has the models. */
const controlResponse = z.object({
  type: z.literal('control_response'),
  response: z.object({
    subtype: z.string(),
    request_id: z.string(),
    error: z.string().optional(),
    response: z
      .object({
        models: z.array(
          z.object({
            value: z.string(),
            resolvedModel: z.string().default(''),
            displayName: z.string(),
            description: z.string().default(''),
            supportedEffortLevels: z.array(z.string()).default([]),
          }),
        ),
      })
      .optional()
      .catch(undefined),
  }),
})
export type ControlResponse = z.infer<typeof controlResponse>['response']

/** The input of `AskUserQuestion`. */
export const UserQuestions = z.object({
  questions: z.array(
    z.object({
      question: z.string(),
      multiSelect: z.boolean().default(false),
      options: z.array(
        z.object({
          label: z.string(),
          description: z.string().default(''),
          preview: z.string().nullable().default(null),
        }),
      ),
    }),
  ),
})

const known = z.discriminatedUnion('type', [
  system,
  streamEvent,
  assistant,
  user,
  result,
  lifecycle,
  controlRequest,
  controlCancel,
  controlResponse,
])
export type ClaudeLine = z.infer<typeof known>

const silent = new Set([
  'control_response',
  'keep_alive',
  'rate_limit_event',
  'tool_progress',
  'conversation_reset',
])
const Typed = z.object({ type: z.string() })

export function readClaudeLine(line: string): ClaudeLine | 'silent' | 'unknown' {
  const json = jsonOf(line)
  const read = known.safeParse(json)
  if (read.success) return read.data
  const typed = Typed.safeParse(json)
  return typed.success && silent.has(typed.data.type) ? 'silent' : 'unknown'
}
