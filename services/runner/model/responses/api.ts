/** How the broker serves OpenAI's Responses API: which requests it forwards, and how it reads their usage. */
import { z } from 'zod'
import { keyHeaders } from '#platform/credentials/modelKeys.ts'
import { fetches, invalid, outside, type MayFetch, type ModelApi } from '../modelApi.ts'
import type { ModelUsage } from '../meter.ts'

export const responsesApi: ModelApi = {
  label: 'Responses API',
  provider: 'openai',
  paths: ['/v1/responses'],
  meteredPaths: ['/v1/responses'],
  credentials: (apiKey, use = 'api_key') => keyHeaders('openai', apiKey, use),
  // Removes headers that choose an account: the key alone decides that.
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
/** The last event of an answer, which contains the whole answer: complete, cut at a limit, or failed. */
const Ended = z.object({
  type: z.enum(['response.completed', 'response.incomplete', 'response.failed']),
  response: Response,
})
/** A failure of the provider that ends a stream. If it names no usage, nothing was used. */
const Failed = z.union([
  z.object({ type: z.literal('response.failed'), response: Response.extend({ usage: z.null().optional() }) }),
  z.object({ type: z.literal('error') }),
])
const Metered = z.union([Ended.transform(({ response }) => response), Response])

/** The usage of an answer. The API counts tokens read from its cache or written to it as input too; here they are counted only once. */
function readUsage(json: unknown): Partial<ModelUsage> | undefined {
  if (Failed.safeParse(json).success) return {}
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

const Tool = z.looseObject({ type: z.string() })
const Request = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.unknown())]).optional(),
  tools: z.array(Tool).nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  conversation: z.unknown().optional(),
  previous_response_id: z.unknown().optional(),
  prompt: z.unknown().optional(),
})

/** Types of tools that the agent runs itself, in its sandbox. A `namespace` contains further tools. */
const ownTools = new Set(['function', 'custom', 'local_shell', 'apply_patch', 'namespace', 'tool_search'])
/** Types of tools of the model's service that only fetch from the network. */
const fetchingTool = /^(?:web_search|web_search_preview|mcp)(?:_\d|$)/

/**
 * Why a request is not forwarded; `undefined` when it is forwarded. Besides requests that are not valid, those are refused that would make the
 * model's service fetch, run or store something, where the project's list of allowed hosts has no effect. A project may allow fetching; files,
 * containers and stored answers are always refused, since they belong to the operator's account, which all projects share.
 */
export function refusal(body: unknown, may: MayFetch): string | undefined {
  const request = Request.safeParse(body)
  if (!request.success) return invalid(request.error)
  const { tools, input, store, background } = request.data
  const why = refusalOfTools(tools, may) ?? (Array.isArray(input) ? refusalIn(input, may, 0) : undefined)
  if (why !== undefined) return why
  const kept = (['conversation', 'previous_response_id', 'prompt'] as const).find(
    (field) => request.data[field] != null,
  )
  if (kept !== undefined) return outside(kept, 'uses what is stored')
  // Without `store: false`, the API would store the answer.
  return store === false && background !== true
    ? undefined
    : 'store: an answer must not be stored outside of the sandbox: send "store": false.'
}

function refusalOfTools(tools: unknown, { modelFetches }: MayFetch): string | undefined {
  for (const each of Array.isArray(tools) ? tools : []) {
    const tool = Tool.safeParse(each)
    if (!tool.success) return 'tools: this is not valid.'
    const { type } = tool.data
    if (ownTools.has(type)) {
      const inner = refusalOfTools(tool.data['tools'], { modelFetches })
      if (inner !== undefined) return inner
    } else if (!fetchingTool.test(type)) return outside(`tools: ${type}`, 'runs a tool')
    else if (!modelFetches) return fetches(`tools: ${type}`, 'runs a tool')
  }
  return undefined
}

const deepest = 16
const Fields = z.record(z.string(), z.unknown())

/** Why an item of the conversation, or something in it, is refused. Anything that is nested deeper than real content is refused too. */
function refusalIn(value: unknown, may: MayFetch, depth: number): string | undefined {
  if (depth > deepest) return outside('input: nested', 'fetches content')
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = refusalIn(each, may, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  const fields = Fields.safeParse(value)
  if (!fields.success || value === null || typeof value !== 'object') return undefined
  const item = fields.data
  if (item['type'] === 'item_reference') return outside('input: item_reference', 'uses what is stored')
  if (item['type'] === 'additional_tools') return refusalOfTools(item['tools'], may)
  if (typeof item['file_id'] === 'string') return outside('input: file_id', 'fetches content')
  for (const name of ['image_url', 'file_url'] as const) {
    const address = item[name]
    if (address != null && !(typeof address === 'string' && address.startsWith('data:')) && !may.modelFetches)
      return fetches(`input: ${name}`, 'fetches content')
  }
  return refusalIn([item['content'], item['output']], may, depth + 1)
}
