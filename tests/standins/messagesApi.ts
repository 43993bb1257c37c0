/**
 * A stand-in for the Messages API at the wire: real HTTP and server-sent events on 127.0.0.1, with answers that a test has written. It takes the
 * place of the model only, so the agent's CLI, the broker and everything else in a test are the real ones.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  answerAsEvents,
  answerAsJson,
  MessagesRequest,
  readConversation,
} from '../../services/runner/model/messages/wire.ts'
import { tokensIn } from '../../services/runner/model/modelApi.ts'
import type { Answer, AnswerBlock } from '../../services/runner/model/messages/wire.ts'

/** One answer of the model: its text, and then its tool calls. */
export interface Turn {
  readonly thinking?: string
  readonly text?: string
  readonly tools?: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[]
  /** A pause before the answer begins. */
  readonly delayMs?: number
  /** A pause before each word. */
  readonly pauseMs?: number
  /** Stops after this many words (or other deltas) until the gate is released. */
  readonly hold?: { readonly afterWords: number; readonly gate: Gate }
  /** Breaks the connection after this many words, and after `hold` if that is at the same place. */
  readonly cutAfterWords?: number
  /** Answers with this status and an error of this type instead. */
  readonly fault?: {
    readonly status: number
    readonly type: string
    readonly message?: string
    /** Whether the answer says that a retry is of no use, so that the CLI does not retry. */
    readonly isFinal?: boolean
  }
}

/** The model's answers to messages that match `when`; without `when`, to any message that no other script is for. */
export interface Script {
  readonly when?: RegExp
  /**
   * The turns are used one after the other for each message, including retries. The last one is repeated when it is a fault; otherwise `Done.`
   * follows.
   */
  readonly turns: readonly Turn[]
}

export interface SeenRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  /** The client disconnected before the answer was complete. */
  aborted: boolean
}

export interface MessagesApi {
  readonly baseUrl: string
  /** Every request, in order, including side requests (without tools). */
  readonly requests: readonly SeenRequest[]
  /** The headers of requests for the list of models, with which keys are tried. */
  readonly asked: readonly IncomingHttpHeaders[]
  close(): Promise<void>
}

/** A gate in an answer: a test knows when the answer has reached it, and opens it. */
export interface Gate {
  readonly reached: Promise<void>
  readonly released: Promise<void>
  arrive(): void
  release(): void
}

export function createGate(): Gate {
  let arrive = () => {}
  let release = () => {}
  const reached = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  return { reached, released, arrive: () => arrive(), release: () => release() }
}

/** A gate that scripts name once and that is new for each test: `renew` replaces it by a closed one. */
export function renewableGate(): { readonly gate: Gate; renew(): void } {
  let present = createGate()
  return {
    gate: {
      get reached() {
        return present.reached
      },
      get released() {
        return present.released
      },
      arrive: () => present.arrive(),
      release: () => present.release(),
    },
    renew() {
      present = createGate()
    },
  }
}

/** Starts the stand-in on a free port of 127.0.0.1. */
export async function startMessagesApi(scripts: readonly Script[]): Promise<MessagesApi> {
  const requests: SeenRequest[] = []
  const asked: IncomingHttpHeaders[] = []
  const used = new Map<string, number>()

  const nextTurn = (request: MessagesRequest, session: string): Turn => {
    if (request.tools === undefined || request.tools.length === 0) return { text: 'A title' }
    const { message, messageNumber } = readConversation(request)
    const script =
      scripts.find(({ when }) => when?.test(message)) ?? scripts.find(({ when }) => when === undefined)
    const key = JSON.stringify([session, messageNumber, message])
    const index = used.get(key) ?? 0
    used.set(key, index + 1)
    const last = script?.turns.at(-1)
    return script?.turns[index] ?? (last?.fault === undefined ? { text: 'Done.' } : last)
  }

  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url?.endsWith('/v1/models')) {
      asked.push(request.headers)
      return answerModels(request.headers, response)
    }
    void (async () => {
      const body: unknown = JSON.parse(await bodyOf(request))
      const seen: SeenRequest = { path: request.url ?? '', headers: request.headers, body, aborted: false }
      requests.push(seen)
      response.on('close', () => {
        seen.aborted = !response.writableFinished
      })
      const parsed = MessagesRequest.parse(body)
      const session = request.headers['x-claude-code-session-id']
      await answer(response, parsed, nextTurn(parsed, typeof session === 'string' ? session : ''))
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

/** Accepts every key except those whose text says that they are revoked. */
function answerModels(headers: IncomingHttpHeaders, response: ServerResponse): void {
  const isRefused = `${headers['x-api-key']} ${headers.authorization}`.includes('revoked')
  response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ data: [] }))
}

async function answer(response: ServerResponse, request: MessagesRequest, turn: Turn): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (turn.delayMs !== undefined) await sleep(turn.delayMs, undefined, { signal: gone.signal })
  if (turn.fault !== undefined) {
    const { status, type, message = type, isFinal = false } = turn.fault
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(isFinal ? { 'x-should-retry': 'false' } : {}),
    })
    response.end(JSON.stringify({ type: 'error', error: { type, message } }))
    return
  }
  const whole = answerOf(request, turn)
  if (request.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answerAsJson(whole)))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let words = 0
  for (const { frame, paced } of answerAsEvents(whole)) {
    if (paced) {
      if (turn.hold?.afterWords === words) {
        turn.hold.gate.arrive()
        await Promise.race([turn.hold.gate.released, once(gone.signal, 'abort')])
      }
      if (turn.cutAfterWords === words) return void response.destroy()
      if (turn.pauseMs !== undefined) await sleep(turn.pauseMs, undefined, { signal: gone.signal })
      words += 1
    }
    if (!response.write(frame)) await once(response, 'drain', { signal: gone.signal })
  }
  response.end()
}

/** For `file_path` in a tool's input: stands for the file to which `claude` asks its model to write a plan, under a name that `claude` invents. */
export const planFile = '<plan file>'

function planFileIn({ messages }: MessagesRequest): string {
  const named = /\S+\/\.claude\/plans\/[\w-]+\.md/.exec(JSON.stringify(messages))
  if (named === null) throw new Error('The agent named no file for a plan.')
  return named[0]
}

function answerOf(request: MessagesRequest, turn: Turn): Answer {
  const blocks: AnswerBlock[] = [
    ...(turn.thinking === undefined
      ? []
      : [{ type: 'thinking', thinking: turn.thinking, signature: 'c2lnbmF0dXJl' } as const]),
    ...(turn.text === undefined ? [] : [{ type: 'text', text: turn.text } as const]),
    ...(turn.tools ?? []).map(({ name, input }): AnswerBlock => ({
      type: 'tool_use',
      id: `toolu_${randomUUID()}`,
      name,
      input: input['file_path'] === planFile ? { ...input, file_path: planFileIn(request) } : input,
    })),
  ]
  return {
    id: `msg_${randomUUID()}`,
    model: request.model,
    blocks,
    stopReason: (turn.tools ?? []).length > 0 ? 'tool_use' : 'end_turn',
    inputTokens: tokensIn(request.messages),
    outputTokens: tokensIn(blocks),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
