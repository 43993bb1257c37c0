/** How the broker serves Anthropic's Messages API: which requests it forwards, and how it reads their usage. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { keyHeaders } from '#platform/credentials/modelKeys.ts'
import {
  fetches,
  invalid,
  outside,
  tokensIn,
  type MayFetch,
  type ModelApi,
  type ScriptedAnswer,
} from '../modelApi.ts'
import type { ModelUsage } from '../meter.ts'
import { scriptedAnswer } from './scripted.ts'
import { answerAsEvents, answerAsJson, MessagesRequest } from './wire.ts'

export const messagesApi: ModelApi = {
  label: 'Messages API',
  provider: 'anthropic',
  paths: ['/v1/messages', '/v1/messages/count_tokens'],
  meteredPaths: ['/v1/messages'],
  credentials: (apiKey, use = 'api_key', passed = {}) =>
    keyHeaders('anthropic', apiKey, use, String(passed['anthropic-beta'] ?? '')),
  passedHeaders,
  errorBody: (type, message) => ({ type: 'error', error: { type, message } }),
  readUsage,
  refusal,
  scripted,
}

/** Returns the headers to forward: those of the client without the beta features that are refused. */
function passedHeaders(headers: IncomingHttpHeaders, may: MayFetch): OutgoingHttpHeaders {
  const { 'anthropic-beta': betas, ...others } = headers
  const requested = [betas ?? []].flat().join(',').split(',')
  const passed = requested.map((beta) => beta.trim()).filter((beta) => beta !== '' && passesBeta(beta, may))
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
  // A failure of the provider that ends a stream. Before `message_start`, nothing was used.
  z.object({ type: z.literal('error') }),
])

function readUsage(json: unknown): Partial<ModelUsage> | undefined {
  const metered = Metered.safeParse(json)
  if (!metered.success) return undefined
  const { data } = metered
  if (data.type === 'error') return {}
  if (data.type === 'message_delta') return tokensOf(data.usage)
  const { model, usage } = data.type === 'message' ? data : data.message
  return { model, ...tokensOf(usage) }
}

function tokensOf(usage: z.infer<typeof Usage>): Partial<ModelUsage> {
  const tokens = {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_input_tokens,
    cacheWriteTokens: usage.cache_creation_input_tokens,
  }
  return Object.fromEntries(Object.entries(tokens).filter(([, count]) => typeof count === 'number'))
}

function scripted(body: unknown, path: string): ScriptedAnswer | undefined {
  const request = MessagesRequest.safeParse(body)
  if (!request.success) return undefined
  if (!messagesApi.meteredPaths.includes(path))
    return { kind: 'json', body: { input_tokens: tokensIn(request.data) } }
  const answer = scriptedAnswer(request.data)
  const { model, inputTokens, outputTokens } = answer
  const usage = { model, inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return request.data.stream === true
    ? { kind: 'events', frames: answerAsEvents(answer), usage }
    : { kind: 'json', body: answerAsJson(answer), usage }
}

const Source = z.looseObject({ type: z.string(), content: z.unknown().optional() })
const Block = z.looseObject({
  type: z.unknown().optional(),
  source: z.unknown().optional(),
  content: z.unknown().optional(),
})
const Request = z.looseObject({
  mcp_servers: z.unknown().optional(),
  container: z.unknown().optional(),
  tools: z.array(z.looseObject({ type: z.string().nullish() })).nullish(),
  system: z.unknown().optional(),
  messages: z.array(z.looseObject({ content: z.unknown() })).nullish(),
})

/** Types of tools that the agent runs itself, in its sandbox. Tools of any other type run at the model's service. */
const ownTool = /^(?:custom|bash_\d+|text_editor_\d+|computer_\d+|memory_\d+)$/
/** Types of tools of the model's service that only fetch from the network. */
const fetchingTool = /^(?:web_search_\d+|web_fetch_\d+|mcp_toolset)$/

/** Whether a beta feature of the API is forwarded; a feature that is not forwarded is removed from the request. */
export function passesBeta(beta: string, { modelFetches }: MayFetch): boolean {
  if (/^(?:code-execution|files-api|skills)-/i.test(beta)) return false
  return modelFetches || !/^(?:mcp-client|web-fetch|web-search)-/i.test(beta)
}

/**
 * Why a request is not forwarded; `undefined` when it is forwarded. Besides requests that are not valid, those are refused that would make the
 * model's service fetch or run something, where the project's list of allowed hosts has no effect. A project may allow fetching; files and containers
 * are always refused, since they belong to the operator's account, which all projects share.
 */
export function refusal(body: unknown, { modelFetches }: MayFetch): string | undefined {
  const request = Request.safeParse(body)
  if (!request.success) return invalid(request.error)
  const { mcp_servers: servers, container, tools, system, messages } = request.data
  if (isThere(servers) && !modelFetches) return fetches('mcp_servers', 'connects to servers')
  if (isThere(container)) return outside('container', 'runs code')
  const isRefused = (type: string): boolean =>
    !ownTool.test(type) && !(modelFetches && fetchingTool.test(type))
  const tool = tools?.find(({ type }) => typeof type === 'string' && isRefused(type))
  if (tool) {
    const say = fetchingTool.test(tool.type ?? '') ? fetches : outside
    return say(`tools: ${tool.type}`, 'runs a tool')
  }
  const contents = [system, ...(messages ?? []).map(({ content }) => content)]
  const own = modelFetches ? new Set([...ownSource, 'url']) : ownSource
  const source = contents.map((content) => fetchedIn(content, own, 0)).find((found) => found !== undefined)
  if (source === undefined) return undefined
  const say = source === 'url' ? fetches : outside
  return say(`source: ${source}`, 'fetches content')
}

const isThere = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

const deepest = 16

/** Types of sources that contain their content. */
const ownSource: ReadonlySet<string> = new Set(['base64', 'text', 'content'])

/**
 * The type of the first source that is not in `own`. Blocks of all types are searched, since any of them may have a source. Returns `nested` for
 * content that is nested deeper than real content, `file` for a block that names an uploaded file, and `unknown` for a source without a type.
 */
function fetchedIn(content: unknown, own: ReadonlySet<string>, depth: number): string | undefined {
  if (depth > deepest) return 'nested'
  for (const each of Array.isArray(content) ? content : [content]) {
    const block = Block.safeParse(each)
    if (!block.success) continue
    const { type, source, content: inner } = block.data
    if (type === 'container_upload') return 'file'
    const found = fetchedBy(source, own, depth) ?? fetchedIn(inner, own, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** The type of a source, if it makes the service fetch something. A source that is just a string, as in a search result, makes it fetch nothing. */
function fetchedBy(source: unknown, own: ReadonlySet<string>, depth: number): string | undefined {
  if (source === undefined || source === null || typeof source === 'string') return undefined
  const known = Source.safeParse(source)
  if (!known.success) return 'unknown'
  const { type, content } = known.data
  return own.has(type) ? fetchedIn(content, own, depth + 1) : type
}
