/**
 * A stand-in for Google's Gemini API at the wire: real HTTP and server-sent events on 127.0.0.1, with the scripts of the Messages API's stand-in. The
 * tools that these name, `Write` and `Bash`, are called as `gemini` has them; others by the names that they have.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { tokensIn, wordsOf } from '../../services/runner/model/modelApi.ts'
import type { Script, SeenRequest, Turn } from './messagesApi.ts'

const GeminiRequest = z.object({
  contents: z.array(
    z.object({
      role: z.string().optional(),
      parts: z.array(z.looseObject({ text: z.string().optional() })),
    }),
  ),
  tools: z.array(z.unknown()).optional(),
})
type GeminiRequest = z.infer<typeof GeminiRequest>

export interface GeminiApi {
  readonly baseUrl: string
  /** Every request, in order; side requests (without tools) too. */
  readonly requests: readonly SeenRequest[]
  /** The headers of requests for the list of models, by which keys are tried. */
  readonly asked: readonly IncomingHttpHeaders[]
  close(): Promise<void>
}

/** Starts the stand-in on a free port of 127.0.0.1. */
export async function startGeminiApi(scripts: readonly Script[]): Promise<GeminiApi> {
  const requests: SeenRequest[] = []
  const asked: IncomingHttpHeaders[] = []
  const used = new Map<string, number>()
  const nextTurn = (request: GeminiRequest): Turn => {
    if (request.tools === undefined) return { text: '{}' }
    const said = messagesIn(request)
    const message = said.at(-1) ?? ''
    const script =
      scripts.find(({ when }) => when?.test(message)) ?? scripts.find(({ when }) => when === undefined)
    // No request names its session.
    const key = JSON.stringify(said)
    const index = used.get(key) ?? 0
    used.set(key, index + 1)
    const last = script?.turns.at(-1)
    return script?.turns[index] ?? (last?.fault === undefined ? { text: 'Done.' } : last)
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url?.endsWith('/v1beta/models')) {
      asked.push(request.headers)
      const isRefused = String(request.headers['x-goog-api-key']).includes('revoked')
      return isRefused ? answerFault(response, badKey) : answerJson(response, 200, { models: [] })
    }
    void (async () => {
      const body: unknown = JSON.parse(await bodyOf(request))
      const { url = '' } = request
      const seen: SeenRequest = { path: url, headers: request.headers, body, aborted: false }
      requests.push(seen)
      response.on('close', () => {
        seen.aborted = !response.writableFinished
      })
      const [, model = '', method] =
        /\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent\?alt=sse|countTokens)$/.exec(
          url,
        ) ?? []
      if (method === undefined) return answerFault(response, { status: 404, type: 'NOT_FOUND' })
      const parsed = GeminiRequest.parse(body)
      if (method === 'countTokens')
        return answerJson(response, 200, { totalTokens: tokensIn(parsed.contents) })
      await answer(response, parsed, { model, isStream: method !== 'generateContent' }, nextTurn(parsed))
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What people wrote, without what the CLI put around it. */
function messagesIn({ contents }: GeminiRequest): readonly string[] {
  return contents.flatMap(({ role, parts }) => {
    const written = parts.filter(({ text = '' }) => !/^\s*<\w+>/.test(text))
    const text = written.map((part) => part.text ?? '').join('')
    return role !== 'user' || text.trim() === '' ? [] : [text.trim()]
  })
}

type Fault = NonNullable<Turn['fault']>
const badKey: Fault = {
  status: 400,
  type: 'INVALID_ARGUMENT',
  message: 'API key not valid. Please pass a valid API key.',
}

function answerFault(response: ServerResponse, { status, type, message = type }: Fault): void {
  answerJson(response, status, { error: { code: status, message, status: type } })
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
  response.end(JSON.stringify(body))
}

async function answer(
  response: ServerResponse,
  { contents }: GeminiRequest,
  { model, isStream }: { readonly model: string; readonly isStream: boolean },
  turn: Turn,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (turn.delayMs !== undefined) await sleep(turn.delayMs, undefined, { signal: gone.signal })
  if (turn.fault !== undefined) return answerFault(response, turn.fault)
  const parts = partsOf(turn)
  const usageMetadata = {
    promptTokenCount: tokensIn(contents),
    cachedContentTokenCount: 3,
    candidatesTokenCount: tokensIn(parts),
    ...(turn.thinking !== undefined && { thoughtsTokenCount: tokensIn(turn.thinking) }),
  }
  const shell = { modelVersion: model, responseId: randomUUID() }
  const candidate = (said: readonly object[], finish?: 'STOP') => ({
    content: { role: 'model', parts: said },
    index: 0,
    ...(finish !== undefined && { finishReason: finish }),
  })
  if (!isStream)
    return answerJson(response, 200, { candidates: [candidate(parts, 'STOP')], usageMetadata, ...shell })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (more: object) => response.write(`data: ${JSON.stringify({ ...more, ...shell })}\r\n\r\n`)
  let words = 0
  for (const part of parts) {
    if (turn.hold?.afterWords === words) {
      turn.hold.gate.arrive()
      await Promise.race([turn.hold.gate.released, once(gone.signal, 'abort')])
    }
    if (turn.cutAfterWords === words) return void response.destroy()
    if (turn.pauseMs !== undefined) await sleep(turn.pauseMs, undefined, { signal: gone.signal })
    words += 1
    send({
      candidates: [candidate([part])],
      usageMetadata: { promptTokenCount: usageMetadata.promptTokenCount },
    })
  }
  send({ candidates: [candidate([], 'STOP')], usageMetadata })
  response.end()
}

/** Each a part of the stream: text word by word. */
function partsOf({ thinking, text = '', tools = [] }: Turn): readonly object[] {
  return [
    ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
    ...wordsOf(text).map((word) => ({ text: word })),
    ...tools.map(({ name, input }) => ({ functionCall: callOf(name, input) })),
  ]
}

const names: Readonly<Record<string, string>> = { Write: 'write_file', Bash: 'run_shell_command' }

const callOf = (name: string, input: object) => ({ name: names[name] ?? name, args: input })

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
