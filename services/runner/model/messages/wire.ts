/** The part of the Messages API that the runner reads and writes: the conversation of a request, an answer, and the two formats of an answer. */
import { z } from 'zod'
import { answerFrame, wordsOf, type AnswerFrame } from '../modelApi.ts'

const TextBlock = z.object({ type: z.literal('text'), text: z.string() })
const ImageBlock = z.object({ type: z.literal('image') })
const ToolUseBlock = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
})
/** Blocks of unknown kinds occur and are ignored. */
const OtherBlock = z.object({ type: z.string().transform(() => 'other' as const) })
const ToolResultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.union([TextBlock, OtherBlock]))]).optional(),
  is_error: z.boolean().optional(),
})
const Block = z.union([TextBlock, ImageBlock, ToolUseBlock, ToolResultBlock, OtherBlock])
type Block = z.infer<typeof Block>

/** The body of `POST /v1/messages` and, without `max_tokens`, of `count_tokens`. */
export const MessagesRequest = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(Block)]) })).min(1),
  system: z.unknown().optional(),
  tools: z.array(z.object({ name: z.string().optional() })).optional(),
  max_tokens: z.number().optional(),
  stream: z.boolean().optional(),
})
export type MessagesRequest = z.infer<typeof MessagesRequest>

/** A use of a tool, with its result. */
export interface Step {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly result: string
  readonly failed: boolean
}

export interface Conversation {
  /** The latest message by a person, without the text that the agent's CLI added. */
  readonly message: string
  readonly images: number
  /** The number of messages by people so far; the first message has 1. */
  readonly messageNumber: number
  /** The tools that were used since the latest message by a person, in order. */
  readonly steps: readonly Step[]
}

export function readConversation(request: MessagesRequest): Conversation {
  let message = ''
  let images = 0
  let messageNumber = 0
  let calls = new Map<string, z.infer<typeof ToolUseBlock>>()
  let steps: Step[] = []
  for (const { role, content } of request.messages) {
    const blocks: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (role === 'assistant') {
      for (const block of blocks) if (block.type === 'tool_use') calls.set(block.id, block)
    } else if (role === 'user') {
      for (const block of blocks) {
        const call = block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
        if (block.type === 'tool_result' && call !== undefined) {
          const { name, input } = call
          steps.push({ name, input, result: textOf(block.content ?? ''), failed: block.is_error ?? false })
        }
      }
      const written = writtenIn(blocks)
      const attached = blocks.filter((block) => block.type === 'image').length
      if (written === '' && attached === 0) continue
      message = written
      images = attached
      messageNumber += 1
      calls = new Map()
      steps = []
    }
  }
  return { message, images, messageNumber, steps }
}

/** What the person wrote in a user message, without the reminders and markers of the CLI. */
function writtenIn(blocks: readonly Block[]): string {
  return blocks
    .map((block) => (block.type === 'text' ? block.text : ''))
    .map((text) => text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').trim())
    .filter((text) => text !== '' && !text.startsWith('[Request interrupted by user'))
    .join('\n\n')
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === 'string') return content
  return content.map((block) => block.text ?? '').join('')
}

export type AnswerBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: Readonly<Record<string, unknown>>
    }

export interface Answer {
  readonly id: string
  readonly model: string
  readonly blocks: readonly AnswerBlock[]
  readonly stopReason: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal'
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The answer as one JSON object, for `stream: false`. */
export function answerAsJson(answer: Answer): object {
  return {
    ...messageShell(answer),
    content: answer.blocks,
    stop_reason: answer.stopReason,
    usage: { ...messageShell(answer).usage, output_tokens: answer.outputTokens },
  }
}

/** The answer as server-sent events, with the text word by word. */
export function* answerAsEvents(answer: Answer): Generator<AnswerFrame> {
  yield answerFrame({ type: 'message_start', message: messageShell(answer) })
  for (const [index, block] of answer.blocks.entries()) {
    yield answerFrame({ type: 'content_block_start', index, content_block: emptied(block) })
    for (const delta of deltasOf(block))
      yield answerFrame({ type: 'content_block_delta', index, delta }, true)
    yield answerFrame({ type: 'content_block_stop', index })
  }
  yield answerFrame({
    type: 'message_delta',
    delta: { stop_reason: answer.stopReason, stop_sequence: null },
    usage: { output_tokens: answer.outputTokens },
  })
  yield answerFrame({ type: 'message_stop' })
}

function messageShell({ id, model, inputTokens }: Answer) {
  const usage = {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 1,
  }
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
}

function emptied(block: AnswerBlock): AnswerBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'tool_use':
      return { ...block, input: {} }
  }
}

function deltasOf(block: AnswerBlock): readonly object[] {
  switch (block.type) {
    case 'text':
      return wordsOf(block.text).map((text) => ({ type: 'text_delta', text }))
    case 'thinking':
      return [
        ...wordsOf(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'tool_use':
      return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
  }
}
