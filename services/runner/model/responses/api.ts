/** OpenAI's Responses API. */
import { z } from 'zod'
import type { ModelApi } from '../api.ts'
import type { ModelUsage } from '../meter.ts'
import { refusal } from './fetches.ts'

export const responsesApi: ModelApi = {
  label: 'Responses API',
  paths: ['/v1/responses'],
  meteredPath: '/v1/responses',
  credentials: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  // The key alone decides whose account is used.
  passedHeaders: ({ 'openai-organization': _organization, 'openai-project': _project, ...others }) => others,
  errorBody: (type, message) => ({ error: { type, code: type, message } }),
  readUsage,
  refusal,
}

const Tokens = z.number().int().nonnegative()
const Usage = z.object({
  input_tokens: Tokens,
  output_tokens: Tokens,
  input_tokens_details: z
    .object({ cached_tokens: Tokens.nullish(), cache_write_tokens: Tokens.nullish() })
    .nullish(),
})
const Response = z.object({ object: z.literal('response'), model: z.string(), usage: Usage.nullish() })
/** Its last event has the whole answer: complete, cut at a limit, or failed. */
const Ended = z.object({
  type: z.enum(['response.completed', 'response.incomplete', 'response.failed']),
  response: Response,
})
const Metered = z.union([Ended.transform(({ response }) => response), Response])

/** The API counts what it read from its cache among the input; the meter's kinds do not overlap. */
function readUsage(json: unknown): Partial<ModelUsage> | undefined {
  const metered = Metered.safeParse(json)
  if (!metered.success || metered.data.usage == null) return undefined
  const { model, usage } = metered.data
  const cacheReadTokens = usage.input_tokens_details?.cached_tokens ?? 0
  const cacheWriteTokens = usage.input_tokens_details?.cache_write_tokens ?? 0
  return {
    model,
    inputTokens: Math.max(0, usage.input_tokens - cacheReadTokens - cacheWriteTokens),
    outputTokens: usage.output_tokens,
    cacheReadTokens,
    cacheWriteTokens,
  }
}
