/** The lines that `cursor-agent --output-format stream-json` prints, as far as we read them. Other lines are skipped. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'

const sessionId = z.string().default('')

const init = z.object({
  type: z.literal('system'),
  subtype: z.literal('init'),
  session_id: sessionId,
  model: z.string().default(''),
  cwd: z.string().optional(),
})

const thinking = z.object({
  type: z.literal('thinking'),
  subtype: z.enum(['delta', 'completed']),
  text: z.string().default(''),
})

const text = z.object({ type: z.literal('text'), text: z.string() })
const other = z.object({ type: z.string().transform(() => 'other' as const) })

const assistant = z.object({
  type: z.literal('assistant'),
  message: z.object({ content: z.array(z.union([text, other])) }),
  /** Set on a line that repeats a whole text before a tool call. */
  model_call_id: z.string().optional(),
  /** Absent when a text is repeated as a whole at the end. */
  timestamp_ms: z.number().optional(),
})
export type AssistantLine = z.infer<typeof assistant>

const toolCall = z.object({
  type: z.literal('tool_call'),
  subtype: z.enum(['started', 'completed']),
  call_id: z.string(),
  tool_call: z.record(z.string(), z.unknown()),
})
export type ToolCallLine = z.infer<typeof toolCall>

const count = z.number().default(0)
const result = z.object({
  type: z.literal('result'),
  is_error: z.boolean().default(false),
  session_id: sessionId,
  duration_ms: count,
  result: z.string().default(''),
  usage: z
    .object({
      inputTokens: count,
      outputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
    })
    .optional(),
})
export type ResultLine = z.infer<typeof result>

const known = z.union([init, thinking, assistant, toolCall, result])
export type CursorLine = z.infer<typeof known>

const echoedRequest = z.object({ type: z.literal('user') })

export function readCursorLine(line: string): CursorLine | 'silent' | 'unknown' {
  const json = jsonOf(line)
  const read = known.safeParse(json)
  if (read.success) return read.data
  return echoedRequest.safeParse(json).success ? 'silent' : 'unknown'
}
