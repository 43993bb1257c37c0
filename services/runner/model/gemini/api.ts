/** How the broker serves Google's Gemini API: which requests it forwards, and how it reads their usage. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { keyHeaders } from '#platform/credentials/modelKeys.ts'
import { fetches, invalid, outside, type MayFetch, type ModelApi } from '../modelApi.ts'
import type { ModelUsage } from '../meter.ts'

const models = '/v1beta/models/{model}'
const stream = `${models}:streamGenerateContent`
const whole = `${models}:generateContent`

export const geminiApi: ModelApi = {
  label: 'Gemini API',
  provider: 'google',
  paths: [whole, stream, `${models}:countTokens`],
  meteredPaths: [whole, stream],
  // The client's own query is not sent: Google would accept another key in it, or a mask that leaves out the token usage.
  queryOf: (served) => (served === stream ? '?alt=sse' : ''),
  credentials: (apiKey, use = 'api_key') => keyHeaders('google', apiKey, use),
  passedHeaders,
  errorBody: (_type, message, code) => ({
    error: { code, message, status: statuses[code] ?? 'UNAVAILABLE' },
  }),
  readUsage,
  refusal,
}

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
}

/**
 * Removes Google's own headers, except the one that names the client. They could name a paying account, leave out parts of the answer, or replace the
 * HTTP method.
 */
function passedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const isKept = (name: string) => name === 'x-goog-api-client' || !/^x-(?:goog|http)-/.test(name)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)))
}

const Tokens = z.number().int().nonnegative().nullish()
const Answer = z.object({
  modelVersion: z.string().nullish(),
  usageMetadata: z.object({
    promptTokenCount: Tokens,
    toolUsePromptTokenCount: Tokens,
    cachedContentTokenCount: Tokens,
    candidatesTokenCount: Tokens,
    thoughtsTokenCount: Tokens,
  }),
})

/**
 * The usage in an answer. The API counts cached tokens as part of the prompt, and thoughts apart from the answer; each event of a stream has the
 * usage so far.
 */
function readUsage(json: unknown): Partial<ModelUsage> | undefined {
  const { data } = Answer.safeParse(json)
  if (data === undefined) return undefined
  const { modelVersion, usageMetadata: usage } = data
  const { promptTokenCount: prompt, candidatesTokenCount: answered, thoughtsTokenCount: thoughts } = usage
  const cacheReadTokens = usage.cachedContentTokenCount ?? 0
  return {
    ...(modelVersion != null && { model: modelVersion }),
    ...(prompt != null && {
      inputTokens: Math.max(0, prompt - cacheReadTokens) + (usage.toolUsePromptTokenCount ?? 0),
      cacheReadTokens,
    }),
    ...((answered ?? thoughts) != null && { outputTokens: (answered ?? 0) + (thoughts ?? 0) }),
  }
}

const Fields = z.record(z.string(), z.unknown())
const List = z.array(Fields).nullish()
type Fields = z.infer<typeof Fields>

/** The API accepts `fileData` and `file_data`, and both in one request, so both names are read. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()
const valuesOf = (fields: Fields, name: string): readonly unknown[] =>
  Object.entries(fields).flatMap(([one, value]) => (plain(one) === name && value != null ? [value] : []))

/** The tools of the model's service that only fetch from the network. */
const fetchingTools = new Set([
  'googlesearch',
  'googlesearchretrieval',
  'urlcontext',
  'googlemaps',
  'mcpservers',
])

/**
 * Why a request is not forwarded; `undefined` when it is forwarded. Besides requests that are not valid, those are refused that would make the
 * model's service fetch, run or keep something, where the project's list of allowed hosts has no effect. A project may allow fetching; files, stores
 * and running code are always refused, since they belong to the operator's account, which all projects share.
 */
export function refusal(body: unknown, may: MayFetch): string | undefined {
  const request = Fields.safeParse(body)
  if (!request.success) return invalid(request.error)
  try {
    return refusalIn(request.data, may)
  } catch (fault) {
    if (fault instanceof z.ZodError) return invalid(fault)
    throw fault
  }
}

function refusalIn(request: Fields, may: MayFetch): string | undefined {
  if (valuesOf(request, 'cachedcontent').length > 0) return outside('cachedContent', 'uses what is stored')
  if (valuesOf(request, 'store').some((store) => store !== false)) return outside('store', 'keeps the answer')
  const tools = valuesOf(request, 'tools').flatMap((value) => List.parse(value) ?? [])
  const contents = valuesOf(request, 'contents').flatMap((value) => List.parse(value) ?? [])
  const system = valuesOf(request, 'systeminstruction').map((value) => Fields.parse(value))
  const parts = [...contents, ...system].flatMap(partsOf)
  const files = parts.flatMap((part) => valuesOf(part, 'filedata')).map((value) => Fields.parse(value))
  const counted = valuesOf(request, 'generatecontentrequest').map((value) => Fields.parse(value))
  const found = [
    ...tools.flatMap(Object.keys).map((name) => refusalOfTool(name, may)),
    ...files.flatMap((file) => valuesOf(file, 'fileuri')).map((uri) => refusalOfFile(uri, may)),
    ...counted.map((inner) => refusalIn(inner, may)),
  ]
  return found.find((why) => why !== undefined)
}

function refusalOfTool(name: string, { modelFetches }: MayFetch): string | undefined {
  if (plain(name) === 'functiondeclarations') return undefined
  if (!fetchingTools.has(plain(name))) return outside(`tools: ${name}`, 'runs a tool')
  return modelFetches ? undefined : fetches(`tools: ${name}`, 'runs a tool')
}

function refusalOfFile(uri: unknown, { modelFetches }: MayFetch): string | undefined {
  const address = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined
  const isPublic =
    address !== undefined &&
    /^https?:$/.test(address.protocol) &&
    !/(?:^|\.)googleapis\.com\.?$/.test(address.hostname)
  if (!isPublic) return outside('fileData', 'fetches content')
  return modelFetches ? undefined : fetches('fileData', 'fetches content')
}

/** The parts of a message; the result of a tool may have parts as well. */
function partsOf(content: Fields): readonly Fields[] {
  const listed = (fields: Fields) => valuesOf(fields, 'parts').flatMap((value) => List.parse(value) ?? [])
  return listed(content).flatMap((part) => [
    part,
    ...valuesOf(part, 'functionresponse').flatMap((value) => listed(Fields.parse(value))),
  ])
}
