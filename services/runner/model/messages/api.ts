/** Anthropic's Messages API. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { tokensIn, type MayFetch, type ModelApi, type ScriptedAnswer } from '../api.ts'
import type { ModelUsage } from '../meter.ts'
import { passesBeta, refusal } from './fetches.ts'
import { scriptedAnswer } from './scripted.ts'
import { answerAsEvents, answerAsJson, MessagesRequest } from './wire.ts'

export const messagesApi: ModelApi = {
  label: 'Messages API',
  paths: ['/v1/messages', '/v1/messages/count_tokens'],
  meteredPath: '/v1/messages',
  credentials: (apiKey) => ({ 'x-api-key': apiKey }),
  passedHeaders,
  errorBody: (type, message) => ({ type: 'error', error: { type, message } }),
  readUsage,
  refusal,
  scripted,
}

/** Drops the betas of what is refused. */
function passedHeaders(headers: IncomingHttpHeaders, may: MayFetch): OutgoingHttpHeaders {
  const { 'anthropic-beta': betas, ...others } = headers
  const asked = [betas ?? []].flat().join(',').split(',')
  const passed = asked.map((beta) => beta.trim()).filter((beta) => beta !== '' && passesBeta(beta, may))
  return { ...others, ...(passed.length > 0 && { 'anthropic-beta': passed.join(',') }) }
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

function readUsage(json: unknown): Partial<ModelUsage> | undefined {
  const metered = Metered.safeParse(json)
  if (!metered.success) return undefined
  const { data } = metered
  if (data.type === 'message_delta') return tokensOf(data.usage)
  const { model, usage } = data.type === 'message' ? data : data.message
  return { model, ...tokensOf(usage) }
}

function tokensOf(usage: z.infer<typeof Usage>): Partial<ModelUsage> {
  const said = {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_input_tokens,
    cacheWriteTokens: usage.cache_creation_input_tokens,
  }
  return Object.fromEntries(Object.entries(said).filter(([, tokens]) => typeof tokens === 'number'))
}

function scripted(asked: unknown, path: string): ScriptedAnswer | undefined {
  const request = MessagesRequest.safeParse(asked)
  if (!request.success) return undefined
  if (path !== messagesApi.meteredPath)
    return { kind: 'json', body: { input_tokens: tokensIn(request.data) } }
  const answer = scriptedAnswer(request.data)
  const { model, inputTokens, outputTokens } = answer
  const usage = { model, inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return request.data.stream === true
    ? { kind: 'events', frames: answerAsEvents(answer), usage }
    : { kind: 'json', body: answerAsJson(answer), usage }
}
