/** Reads the tools of a remote MCP server when a person tests it. */
import { mcpLimits } from '#domain/api/mcpServers.ts'
import type { McpTest } from '#domain/api/mcpServers.schema.ts'
import { jsonOf } from '#platform/json.ts'
import { z } from 'zod'
import { McpFault, remoteOf, wholeText, type Remote, type RemoteServer } from '#platform/mcp/remoteRequest.ts'
import { dataOf, eventsIn } from './messages.ts'

const withinMs = 20_000
const protocolVersion = '2025-11-25'
const descriptionLength = 300

const Answer = z.looseObject({
  id: z.number(),
  result: z.looseObject({ protocolVersion: z.string().max(40).optional() }).optional(),
})
const ToolPage = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })),
  nextCursor: z.string().nullish(),
})

/** Opens a session, reads the tools, and ends the session. Never rejects: a failure is a result. */
export async function readTools(server: RemoteServer): Promise<McpTest> {
  const remote = remoteOf(server)
  const signal = AbortSignal.timeout(withinMs)
  try {
    const session = conversation(remote, signal)
    await session.open()
    const tools: { name: string; description: string }[] = []
    let cursor: string | null | undefined
    do {
      const page = ToolPage.safeParse(await session.request('tools/list', cursor ? { cursor } : {}))
      if (!page.success) throw new McpFault('Its list of tools cannot be read.')
      for (const { name, description = '' } of page.data.tools)
        tools.push({
          name: name.slice(0, mcpLimits.toolNameLength),
          description: description.slice(0, descriptionLength),
        })
      cursor = page.data.nextCursor
    } while (cursor && tools.length < mcpLimits.tools)
    await session.end()
    return { kind: 'connected', tools: tools.slice(0, mcpLimits.tools) }
  } catch (fault) {
    if (signal.aborted) return { kind: 'failed', reason: 'It did not answer within 20 seconds.' }
    if (fault instanceof McpFault) return { kind: 'failed', reason: fault.message }
    return { kind: 'failed', reason: 'Its answer broke off.' }
  } finally {
    remote.close()
  }
}

function conversation(remote: Remote, signal: AbortSignal) {
  let headers: Record<string, string> = {}
  let count = 0
  async function send(message: object): Promise<{ readonly status: number; readonly answer: unknown }> {
    const response = await remote.ask({
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      answerWithinMs: withinMs,
      signal,
    })
    const session = response.headers['mcp-session-id']
    if (typeof session === 'string') headers = { ...headers, 'mcp-session-id': session }
    const status = response.statusCode ?? 502
    if (!/^text\/event-stream\b/i.test(response.headers['content-type'] ?? ''))
      return { status, answer: jsonOf(await wholeText(response)) }
    for await (const lines of eventsIn(response)) {
      const answer = jsonOf(dataOf(lines))
      if (Answer.safeParse(answer).success) return { status, answer }
    }
    return { status, answer: undefined }
  }
  async function request(method: string, params: object): Promise<unknown> {
    count += 1
    const { status, answer } = await send({ id: count, method, params })
    const read = Answer.safeParse(answer)
    if (!read.success || read.data.result === undefined)
      throw new McpFault(status >= 400 ? `It answers with status ${status}.` : 'It does not speak MCP.')
    return read.data.result
  }
  return {
    request,
    async open() {
      const clientInfo = { name: 'flightdeck', version: '1' }
      const result = await request('initialize', { protocolVersion, capabilities: {}, clientInfo })
      const version = Answer.shape.result.safeParse(result).data?.protocolVersion ?? protocolVersion
      headers = { ...headers, 'mcp-protocol-version': version }
      await send({ method: 'notifications/initialized' })
    },
    async end() {
      if (headers['mcp-session-id'] === undefined) return
      const ending = remote.ask({ method: 'DELETE', headers, answerWithinMs: 2_000, signal })
      // A fault is ignored, because some servers cannot end a session.
      await ending.then((response) => response.resume()).catch(() => undefined)
    },
  }
}
