/**
 * A stand-in for OpenAI's Responses API at the wire: real HTTP and server-sent events on 127.0.0.1, with the scripts of the Messages API's stand-in.
 * The tools `Write` and `Bash` in those scripts are called by the names that `codex` gives them, those of MCP servers in its scripts, any other by its
 * own name.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { tokensIn } from '../../services/runner/model/modelApi.ts'
import type { Script, SeenRequest, Turn } from './messagesApi.ts'

const Message = z.object({
  type: z.literal('message'),
  role: z.string(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
})
const ResponsesRequest = z.object({ model: z.string(), input: z.array(z.unknown()) })
type ResponsesRequest = z.infer<typeof ResponsesRequest>

export interface ResponsesApi {
  readonly baseUrl: string
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[]
  close(): Promise<void>
}

/** Starts the stand-in on a free port of 127.0.0.1. */
export async function startResponsesApi(scripts: readonly Script[]): Promise<ResponsesApi> {
  const requests: SeenRequest[] = []
  const used = new Map<string, number>()
  const nextTurn = (request: ResponsesRequest, session: string): Turn => {
    const said = messagesIn(request)
    const message = said.at(-1) ?? ''
    const script =
      scripts.find(({ when }) => when?.test(message)) ?? scripts.find(({ when }) => when === undefined)
    const key = JSON.stringify([session, said.length, message])
    const index = used.get(key) ?? 0
    used.set(key, index + 1)
    const last = script?.turns.at(-1)
    return script?.turns[index] ?? (last?.fault === undefined ? { text: 'Done.' } : last)
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url?.endsWith('/v1/models')) {
      const isRefused = String(request.headers.authorization).includes('revoked')
      response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ data: [] }))
    }
    void (async () => {
      const body: unknown = JSON.parse(await bodyOf(request))
      const seen: SeenRequest = { path: request.url ?? '', headers: request.headers, body, aborted: false }
      requests.push(seen)
      response.on('close', () => {
        seen.aborted = !response.writableFinished
      })
      const asked = ResponsesRequest.parse(body)
      await answer(response, asked, nextTurn(asked, String(request.headers['session-id'] ?? '')))
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The messages of people, without the text that the CLI adds. */
function messagesIn({ input }: ResponsesRequest): readonly string[] {
  return input.flatMap((item) => {
    const message = Message.safeParse(item)
    if (!message.success || message.data.role !== 'user') return []
    const text = message.data.content.map((part) => part.text ?? '').join('')
    return /^\s*(?:<|# AGENTS\.md)/.test(text) ? [] : [text.trim()]
  })
}

async function answer(
  response: ServerResponse,
  { model, input }: ResponsesRequest,
  turn: Turn,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (turn.delayMs !== undefined) await sleep(turn.delayMs, undefined, { signal: gone.signal })
  if (turn.fault !== undefined) {
    const { status, type, message = status === 404 ? `The model ${model} does not exist` : type } = turn.fault
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { type, code: type, message } }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
  const shell = { id: `resp_${randomUUID()}`, object: 'response', model }
  send('response.created', { response: { ...shell, status: 'in_progress', output: [] } })
  const output = itemsOf(turn)
  let words = 0
  const pacing = async (): Promise<'cut' | 'go on'> => {
    if (turn.hold?.afterWords === words) {
      turn.hold.gate.arrive()
      await Promise.race([turn.hold.gate.released, once(gone.signal, 'abort')])
    }
    if (turn.cutAfterWords === words) return 'cut'
    if (turn.pauseMs !== undefined) await sleep(turn.pauseMs, undefined, { signal: gone.signal })
    words += 1
    return 'go on'
  }
  for (const [index, { begun, item, deltas }] of output.entries()) {
    send('response.output_item.added', { output_index: index, item: begun })
    for (const { type, delta } of deltas) {
      if ((await pacing()) === 'cut') return void response.destroy()
      send(type, { item_id: item.id, output_index: index, content_index: 0, summary_index: 0, delta })
    }
    send('response.output_item.done', { output_index: index, item })
  }
  const items = output.map(({ item }) => item)
  const usage = {
    input_tokens: tokensIn(input),
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: tokensIn(items),
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokensIn(input) + tokensIn(items),
  }
  send('response.completed', { response: { ...shell, status: 'completed', output: items, usage } })
  response.end()
}

interface Output {
  readonly item: { readonly id: string }
  /** As it is before it is written. */
  readonly begun: object
  readonly deltas: readonly { readonly type: string; readonly delta: string }[]
}

function itemsOf({ thinking, text, tools = [] }: Turn): readonly Output[] {
  return [
    ...(thinking === undefined ? [] : [reasoning(thinking)]),
    ...(text === undefined ? [] : [message(text)]),
    ...tools.map(({ name, input }) => {
      if (name.startsWith('mcp__')) return scriptedCall(name, input)
      const item = {
        type: 'function_call',
        id: `fc_${randomUUID()}`,
        call_id: `call_${randomUUID()}`,
        ...(name === 'Write' || name === 'Bash'
          ? {
              name: 'exec_command',
              arguments: JSON.stringify({ cmd: commandFor(name, input), yield_time_ms: 25_000 }),
            }
          : { name, arguments: JSON.stringify(input) }),
      }
      return { item, begun: item, deltas: [] }
    }),
  ]
}

/** A script that calls a tool and tells its result, as codex' newer models use tools of MCP servers. */
function scriptedCall(name: string, input: object): Output {
  const script = `text(JSON.stringify(await tools.${name}(${JSON.stringify(input)})))`
  const id = `ctc_${randomUUID()}`
  const item = { type: 'custom_tool_call', id, call_id: `call_${randomUUID()}`, name: 'exec', input: script }
  return { item, begun: item, deltas: [] }
}

function reasoning(text: string): Output {
  const item = { type: 'reasoning', id: `rs_${randomUUID()}`, summary: [{ type: 'summary_text', text }] }
  const type = 'response.reasoning_summary_text.delta'
  return { item, begun: { ...item, summary: [] }, deltas: wordsOf(text).map((delta) => ({ type, delta })) }
}

function message(text: string): Output {
  const content = [{ type: 'output_text', text, annotations: [] }]
  const item = { type: 'message', id: `msg_${randomUUID()}`, role: 'assistant', content }
  const type = 'response.output_text.delta'
  return { item, begun: { ...item, content: [] }, deltas: wordsOf(text).map((delta) => ({ type, delta })) }
}

const wordsOf = (text: string): readonly string[] => text.match(/\S+\s*|\s+/g) ?? []

function commandFor(name: string, input: Readonly<Record<string, unknown>>): string {
  if (name !== 'Write') return String(input['command'])
  const lines = String(input['content']).trimEnd().split('\n')
  const patch = [
    '*** Begin Patch',
    `*** Add File: ${String(input['file_path'])}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
  ]
  return `apply_patch <<'EOF'\n${patch.join('\n')}\nEOF\n`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
