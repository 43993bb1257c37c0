/**
 * Forwards requests from a sandbox to the remote MCP servers of its run. The path `/mcp/<id>` leads to one server, whose credential is added here.
 * Messages are limited in size; tools that are switched off are hidden and refused.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { openDecoder } from '#platform/images/decoder.ts'
import { jsonOf } from '#platform/json.ts'
import { formsOf } from '#platform/redaction/secretForms.ts'
import {
  McpFault,
  messageBytes,
  remoteOf,
  wholeText,
  type Remote,
  type RemoteServer,
} from '#platform/mcp/remoteRequest.ts'
import { ownToolTimeoutMs } from '../agents/mcpTimeouts.ts'
import { ownServerPath } from '../agents/ownTools.ts'
import { dataOf, eventsIn, Message } from './messages.ts'
import { shownTools, type ShownTools } from './shownTools.ts'

export interface McpGateway {
  /** Whether the request's address belongs to this gateway. */
  isFor(request: IncomingMessage): boolean
  /** Answers a request whose token the caller has checked. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** The last fault of each server, by its name. */
  faults(): ReadonlyMap<string, string>
  /** The tools of this server that the agent got; `undefined` while the agent does not have the whole list. */
  listed(serverId: string): readonly string[] | undefined
  close(): void
}

const prefix = '/mcp/'
/** How many requests may be open at once: 32 calls, and for each server one stream and one request at the start. */
const maxOpen = (servers: number) => 32 + 2 * servers
/** The time limit for connecting and listing; a call may take longer. */
const answerWithinMs = 10_000
export const callWithinMs = 600_000
const maxPixels = 40_000_000

interface Served {
  readonly server: RemoteServer
  readonly remote: Remote
  readonly tools: ShownTools
  /** The ids of the forms that the server asks a person for and has no answer to yet. */
  readonly forms: Set<Message['id']>
  /** The time limits of the calls that run. */
  readonly clocks: Set<NodeJS.Timeout>
  readonly secretForms: () => readonly string[]
}

export interface GatewayOptions {
  readonly servers: readonly RemoteServer[]
  /** Our own server. Its calls wait for a person, so they do not count towards the limit of open requests to `servers`. */
  readonly own?: Pick<McpGateway, 'serve'>
  /** Called for each fault of the server `name`, with a sentence that contains nothing from the server. */
  readonly onFault: (name: string, sentence: string) => void
  readonly callWithinMs?: number
}

export function mcpGateway(options: GatewayOptions): McpGateway {
  const faults = new Map<string, string>()
  const served = new Map(
    options.servers.map((server): [string, Served] => {
      const onChange = (sentence: string, count: number) => {
        if (faults.get(server.name) === sentence) return
        faults.set(server.name, sentence)
        options.onFault(server.name, `It changed or added tools: ${count}.`)
      }
      const { value = '' } = server.header ?? {}
      let secrets = [value, value.replace(/^\S+ /, '')]
      let secretForms = formsOf(secrets)
      const { token: tokenOf } = server
      const token = async (refused?: string) => {
        const current = (await tokenOf?.(refused)) ?? ''
        if (current === secrets[0]) return current
        // A stream that began before a renewal may still contain the previous token.
        secrets = [current, ...secrets].slice(0, 2)
        secretForms = formsOf(secrets)
        return current
      }
      const remote = remoteOf({ ...server, ...(tokenOf && { token }) })
      const tools = shownTools(server.toolsOff, onChange)
      const calls = { forms: new Set<Message['id']>(), clocks: new Set<NodeJS.Timeout>() }
      return [server.id, { server, remote, tools, ...calls, secretForms: () => secretForms }]
    }),
  )
  let open = 0
  return {
    isFor: ({ url = '' }) => url.startsWith(prefix),
    async serve(request, response) {
      if (options.own !== undefined && request.url === ownServerPath)
        return options.own.serve(request, response)
      const one = served.get((request.url ?? '').slice(prefix.length))
      const { method } = request
      if (one === undefined) return refuse(response, 404, 'There is no such MCP server in this run.')
      if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
        return refuse(response, 405, 'This method is not passed on.')
      if (open >= maxOpen(served.size))
        return refuse(response, 429, 'Too many requests to MCP servers at once.')
      open += 1
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      try {
        await passOn(one, { ...options, request, response, method, signal: gone.signal })
      } catch (fault) {
        if (gone.signal.aborted) return
        const sentence = fault instanceof McpFault ? fault.message : 'Its answer broke off.'
        faults.set(one.server.name, sentence)
        options.onFault(one.server.name, sentence)
        refuse(response, 502, sentence)
      } finally {
        open -= 1
      }
    },
    faults: () => faults,
    listed: (serverId) => served.get(serverId)?.tools.listed(),
    close() {
      for (const { remote } of served.values()) remote.close()
    },
  }
}

interface Passing extends Pick<GatewayOptions, 'callWithinMs'> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly signal: AbortSignal
}

async function passOn(served: Served, passing: Passing): Promise<void> {
  const { request, response, method, signal } = passing
  const sent = method === 'POST' ? await messageIn(request) : undefined
  if (sent === 'too_large') return refuse(response, 413, 'The message is larger than 4 MiB.')
  if (sent === 'malformed') return refuse(response, 400, 'Send one message of MCP as JSON.')
  const isCall = sent?.message.method === 'tools/call'
  const refusal = isCall ? served.tools.refusal(sent.message.params?.name ?? '') : undefined
  if (refusal !== undefined) return answerError(response, sent?.message.id, refusal)
  if (sent?.message.method === 'tools/list') served.tools.asked(sent.message.params?.cursor)
  if (sent && sent.message.method === undefined) formAnswered(served, sent.message.id)
  const withinMs = isCall ? (passing.callWithinMs ?? callWithinMs) : answerWithinMs
  const clock = isCall ? startClock(served, withinMs) : undefined
  // With `GET` the agent listens to a stream, which lives as long as the agent and so gets no time limit.
  const late = clock?.signal ?? (method === 'GET' ? signal : AbortSignal.timeout(withinMs))
  const ended = AbortSignal.any([signal, late])
  try {
    const answer = await served.remote.ask({
      method,
      headers: forwarded(request.headers),
      ...(sent === undefined ? {} : { body: sent.text }),
      // The head of the answer to a call may wait for a person too.
      answerWithinMs: isCall ? ownToolTimeoutMs : withinMs,
      signal: ended,
    })
    await passBack(served, answer, response)
  } catch (fault) {
    if (ended.aborted && !signal.aborted)
      throw new McpFault(`It did not answer within ${Math.round(withinMs / 1_000)} seconds.`)
    throw fault
  } finally {
    clock?.stop()
  }
}

/** Starts the time limit of a call. While the server waits for a form, the call does not end, because a person may take hours. */
function startClock({ forms, clocks }: Served, withinMs: number) {
  const late = new AbortController()
  const clock: NodeJS.Timeout = setTimeout(
    () => (forms.size === 0 ? late.abort() : clock.refresh()),
    withinMs,
  )
  clocks.add(clock)
  return {
    signal: late.signal,
    stop() {
      clearTimeout(clock)
      clocks.delete(clock)
      // No call waits any more for a form that was left open.
      if (clocks.size === 0) forms.clear()
    },
  }
}

/** Takes note of the agent's answer to a request of the server. After a form, the time limits start again. */
function formAnswered({ forms, clocks }: Served, id: Message['id']): void {
  if (forms.delete(id)) for (const clock of clocks) clock.refresh()
}

export async function messageIn(
  request: IncomingMessage,
): Promise<{ readonly text: string; readonly message: Message } | 'too_large' | 'malformed'> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) return 'malformed'
    bytes += chunk.length
    if (bytes > messageBytes) return 'too_large'
    chunks.push(chunk)
  }
  const message = Message.safeParse(jsonOf(Buffer.concat(chunks)))
  // The message that was checked is the one that is sent: if a key occurs twice in the original, the server might read the other value.
  return message.success ? { text: JSON.stringify(message.data), message: message.data } : 'malformed'
}

const passedHeaders = /^(accept|content-type|last-event-id|mcp-[a-z-]+|user-agent)$/
const returnedHeaders = /^(content-type|mcp-[a-z-]+|retry-after|allow)$/

const picked = (headers: IncomingHttpHeaders, names: RegExp): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)))
const forwarded = (headers: IncomingHttpHeaders) => picked(headers, passedHeaders)

async function passBack(served: Served, answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const type = answer.headers['content-type'] ?? ''
  const headers = picked(answer.headers, returnedHeaders)
  const texts = Object.entries(headers).flat().map(String)
  if (texts.some((text) => masked(served, text) !== text))
    throw new McpFault('It sends the credential back in a header.')
  if (!/^text\/event-stream\b/i.test(type)) {
    const { statusCode = 502 } = answer
    const whole = await wholeText(answer)
    const text = (await shownText(served, whole)) ?? (statusCode >= 400 ? masked(served, whole) : '')
    response.writeHead(statusCode, { ...headers, 'content-length': Buffer.byteLength(text) })
    return void response.end(text)
  }
  response.writeHead(answer.statusCode ?? 502, headers)
  response.flushHeaders()
  for await (const lines of eventsIn(answer)) {
    const data = dataOf(lines)
    const others = lines.filter((line) => /^(id|event|retry):/.test(line)).map((line) => masked(served, line))
    const text = await shownText(served, data)
    const shown = text === undefined ? [] : [`data: ${text}`]
    // If nothing of an event may be passed on, a comment is sent, which only keeps the connection open.
    const event = [...others, ...shown]
    const isFull = !response.write(event.length === 0 ? ':\n\n' : `${event.join('\n')}\n\n`)
    if (isFull) await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve))
  }
  response.end()
}

function masked({ secretForms }: Served, text: string): string {
  return secretForms().reduce((shown, form) => shown.replaceAll(form, '[redacted]'), text)
}

/**
 * A message as the agent may see it: without the credential, tools that are switched off, and images that are broken or too large to decode.
 * `undefined` for a text that is not JSON: an agent might read it in another way than it is checked here. Throws `McpFault` for JSON that is not one
 * message.
 */
async function shownText(served: Served, text: string): Promise<string | undefined> {
  const json = jsonOf(masked(served, text))
  if (typeof json !== 'object' || json === null) return undefined
  const message = Message.safeParse(json)
  if (!message.success) throw new McpFault('It sent what is not one message of MCP.')
  const { id, method, result } = message.data
  // No call waits for a form that comes without one.
  if (method === 'elicitation/create' && id != null && served.clocks.size > 0) served.forms.add(id)
  if (!result) return JSON.stringify(json)
  const tools = result.tools && served.tools.shown(result.tools, (result.nextCursor ?? null) === null)
  const content = Array.isArray(result.content) && (await Promise.all(result.content.map(shownContent)))
  return JSON.stringify({
    ...message.data,
    result: { ...result, ...(tools && { tools }), ...(content && { content }) },
  })
}

async function shownContent(part: { readonly type: string; readonly [name: string]: unknown }) {
  if (part.type !== 'image' || typeof part['data'] !== 'string') return part
  try {
    const decoder = await openDecoder()
    const image = decoder(Buffer.from(part['data'], 'base64'), { limitInputPixels: maxPixels })
    const { width, height, pages = 1 } = await image.metadata()
    if (width * height * pages <= maxPixels) return part
  } catch {
    // An image that cannot be decoded is replaced below.
  }
  return {
    type: 'text',
    text: 'An image was left out: it is broken, of an unknown format, or too large to open.',
  }
}

function answerError(response: ServerResponse, id: Message['id'], message: string): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code: -32_602, message } })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

export function refuse(response: ServerResponse, status: number, sentence: string): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`${sentence}\n`)
}
