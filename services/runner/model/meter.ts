/** Reads the use of tokens off an answer of the Messages API while it passes, without touching it. */
import { StringDecoder } from 'node:string_decoder'
import { z } from 'zod'

/** Tokens that one request used, as the API counts them: the four kinds do not overlap. */
export interface ModelUsage {
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** All tokens of a request, of whatever kind. */
export function totalTokens(usage: ModelUsage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

export interface Meter {
  read(bytes: Uint8Array): void
  /** What was counted, also of an answer that broke off; `undefined` when it said nothing of use. */
  total(): ModelUsage | undefined
}

const Tokens = z.number().int().nonnegative().nullish()
const Usage = z.object({
  input_tokens: Tokens,
  output_tokens: Tokens,
  cache_read_input_tokens: Tokens,
  cache_creation_input_tokens: Tokens,
})
const Message = z.object({ type: z.literal('message'), model: z.string(), usage: Usage })
const Metered = z.union([
  Message,
  z.object({ type: z.literal('message_start'), message: Message }),
  z.object({ type: z.literal('message_delta'), usage: Usage }),
])

const longestLine = 1024 * 1024
const longestJson = 16 * 1024 * 1024

/** A meter for an answer of this content type. Answers of other types, and lines that are too long, are not counted. */
export function createMeter(contentType: string): Meter {
  const streamed = contentType.startsWith('text/event-stream')
  const whole = contentType.startsWith('application/json')
  const limit = streamed ? longestLine : longestJson
  const decoder = new StringDecoder('utf8')
  let usage: ModelUsage | undefined
  let pending = ''
  let overlong = false

  const count = (json: string) => {
    const metered = Metered.safeParse(parsed(json))
    if (!metered.success) return
    const { data } = metered
    if (data.type === 'message') usage = merged(usage, data.model, data.usage)
    else if (data.type === 'message_start') usage = merged(usage, data.message.model, data.message.usage)
    else usage = merged(usage, undefined, data.usage)
  }
  const keep = (text: string) => {
    if (pending.length + text.length > limit) overlong = true
    pending = overlong ? '' : pending + text
  }

  return {
    read(bytes) {
      if (!streamed && !whole) return
      const text = decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      if (whole) return keep(text)
      const lines = text.split('\n')
      for (const [i, line] of lines.entries()) {
        keep(line)
        if (i === lines.length - 1) break
        if (pending.startsWith('data:')) count(pending.slice('data:'.length))
        pending = ''
        overlong = false
      }
    },
    total() {
      if (whole && pending !== '') count(pending)
      return usage
    },
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** The API repeats its counts as they grow: the latest that it gives stands. */
function merged(
  before: ModelUsage | undefined,
  model: string | undefined,
  now: z.infer<typeof Usage>,
): ModelUsage {
  return {
    model: model ?? before?.model ?? '',
    inputTokens: now.input_tokens ?? before?.inputTokens ?? 0,
    outputTokens: now.output_tokens ?? before?.outputTokens ?? 0,
    cacheReadTokens: now.cache_read_input_tokens ?? before?.cacheReadTokens ?? 0,
    cacheWriteTokens: now.cache_creation_input_tokens ?? before?.cacheWriteTokens ?? 0,
  }
}
