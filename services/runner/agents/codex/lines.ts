/** The lines that `codex exec --json` prints, as far as we read them. What is not named here is passed over. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'

const id = z.string()
const Command = z.object({
  id,
  type: z.literal('command_execution'),
  command: z.string(),
  aggregated_output: z.string().default(''),
  exit_code: z.number().int().nullish(),
  status: z.string(),
})
const FileChange = z.object({
  id,
  type: z.literal('file_change'),
  changes: z.array(z.object({ path: z.string(), kind: z.string() })),
  status: z.string(),
})
const ToolCall = z.object({
  id,
  type: z.literal('mcp_tool_call'),
  server: z.string().default(''),
  tool: z.string(),
  arguments: z.unknown().optional(),
  status: z.string(),
  error: z.object({ message: z.string() }).nullish(),
})
const WebSearch = z.object({ id, type: z.literal('web_search'), query: z.string().default('') })
const TodoList = z.object({
  id,
  type: z.literal('todo_list'),
  items: z.array(z.object({ text: z.string(), completed: z.boolean() })),
})
export type ToolItem = z.infer<
  typeof Command | typeof FileChange | typeof ToolCall | typeof WebSearch | typeof TodoList
>

const Item = z.discriminatedUnion('type', [
  Command,
  FileChange,
  ToolCall,
  WebSearch,
  TodoList,
  z.object({ id, type: z.literal('agent_message'), text: z.string() }),
  z.object({ id, type: z.literal('reasoning'), text: z.string() }),
  z.object({ id, type: z.literal('error'), message: z.string() }),
])

const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.object({ type: z.literal('turn.started') }),
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('error'), message: z.string() }),
  z.object({ type: z.enum(['item.started', 'item.updated', 'item.completed']), item: Item }),
])
export type CodexLine = z.infer<typeof known>
export type ItemLine = Extract<CodexLine, { item: unknown }>

export function readCodexLine(line: string): CodexLine | 'unknown' {
  const read = known.safeParse(jsonOf(line))
  return read.success ? read.data : 'unknown'
}
