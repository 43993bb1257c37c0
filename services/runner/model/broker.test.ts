import { once } from 'node:events'
import { access, chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, RequestListener } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ModelCall } from '#platform/telemetry/telemetry.ts'
import { textThreads } from '../redaction/textThreads.ts'
import { budgetUsedUp } from './apiFault.ts'
import { anyAmount, type Budget } from './budget.ts'
import { budgetOf } from '../../../tests/budgetOf.ts'
import { patienceMs } from '../../../tests/patience.ts'
import { startBroker } from './broker.ts'
import type { BrokerOptions } from './broker.ts'
import type { ModelUsage } from './meter.ts'
import type { BrokerFault } from './upstream.ts'

const runToken = 'token-of-this-run'
const realKey = 'sk-ant-real'

const threads = textThreads()
afterAll(() => threads.close())

let folder = ''
let socketPath = ''
let clean: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broker-'))
  socketPath = join(folder, 'model.sock')
})
afterEach(async () => {
  for (const step of clean.reverse()) await step()
  clean = []
  await rm(folder, { recursive: true, force: true })
})

/** An API on a free port that answers as the test says. */
async function apiThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  clean.push(async () => {
    server.close()
    server.closeAllConnections()
  })
  return addressOf(server.address())
}

function addressOf(address: unknown): string {
  const port =
    typeof address === 'object' && address !== null && 'port' in address ? String(address.port) : '0'
  return `http://127.0.0.1:${port}`
}

async function brokerFor(baseUrl: string, more: Partial<BrokerOptions> = {}, timeouts: object = {}) {
  const usage: ModelUsage[] = []
  const faults: BrokerFault['code'][] = []
  const broker = await startBroker({
    listen: { socketPath },
    runToken,
    upstream: { kind: 'http', api: 'messages', baseUrl, apiKey: realKey, ...timeouts },
    threads,
    onUsage: (used) => usage.push(used),
    onFault: ({ code }) => faults.push(code),
    ...more,
  })
  clean.push(() => broker.close())
  return { broker, usage, faults }
}

interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** Sends a request over the socket; the answer's body is not read yet. */
async function send({
  method = 'POST',
  path = '/v1/messages',
  headers = {},
  body = '{}',
}: Asked = {}): Promise<IncomingMessage> {
  const outgoing = httpRequest({
    socketPath,
    method,
    path,
    agent: false,
    headers: {
      'x-api-key': runToken,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  })
  // Once the answer is there, what becomes of the rest of the request does not matter.
  outgoing.on('error', () => undefined)
  outgoing.end(body)
  const [answer] = await once(outgoing, 'response')
  return answer
}

async function bodyOf(answer: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function ask(asked?: Asked): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const answer = await send(asked)
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: (await bodyOf(answer)).toString() }
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(5)) if (holds()) return
  throw new Error('It did not come to pass.')
}

const stream = [
  'event: message_start\ndata: {"type":"message_start","message":{"type":"message","model":"claude-x",',
  '"usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":2,"output_tokens":1}}}\n\n',
  ': ping\n\ndata: not json\r\n\r\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{},"usage":{"output_tokens":7}}\n\n',
]
const streamUsage = {
  model: 'claude-x',
  inputTokens: 10,
  outputTokens: 7,
  cacheReadTokens: 5,
  cacheWriteTokens: 2,
}
const streams: RequestListener = (request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const part of stream) response.write(part)
  response.end()
}

describe('who may ask for what', () => {
  test('the token of another run, or none, is refused before anything is forwarded', async () => {
    let reached = 0
    const baseUrl = await apiThat((_, response) => {
      reached += 1
      response.end()
    })
    const { faults } = await brokerFor(baseUrl)
    for (const headers of [{ 'x-api-key': 'other' }, { 'x-api-key': '' }, { 'x-api-key': realKey }]) {
      const { status, body } = await ask({ headers })
      expect(status).toBe(401)
      expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { type: 'authentication_error' } })
    }
    expect(reached).toBe(0)
    expect(faults).toEqual(['bad_token', 'bad_token', 'bad_token'])
  })

  test('the token may come as a bearer', async () => {
    await brokerFor(await apiThat(streams))
    expect((await ask({ headers: { 'x-api-key': [], authorization: `Bearer ${runToken}` } })).status).toBe(
      200,
    )
  })

  test.each([
    ['GET', '/v1/messages'],
    ['POST', '/v1/messages/batches'],
    ['POST', '/v1/messages/../files'],
    ['POST', '/v1/files'],
    ['POST', '/v1/complete'],
    ['POST', '//v1/messages'],
    ['POST', '/'],
  ])('%s %s is not served', async (method, path) => {
    await brokerFor('http://127.0.0.1:1')
    const { status, body } = await ask({ method, path })
    expect(status).toBe(404)
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'not_found_error' } })
  })

  test('the socket is for its owner alone', async () => {
    await brokerFor('http://127.0.0.1:1')
    expect((await stat(socketPath)).mode & 0o777).toBe(0o600)
  })
})

describe('what passes', () => {
  test('the key takes the place of the token; cookies and hop-by-hop headers stay behind', async () => {
    let seen: { headers: IncomingHttpHeaders; url: string; body: string } | undefined
    const baseUrl = await apiThat(async (request, response) => {
      seen = { headers: request.headers, url: request.url ?? '', body: (await bodyOf(request)).toString() }
      response.writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': 'a=b',
        'request-id': 'req_1',
      })
      response.end('{}')
    })
    await brokerFor(`${baseUrl}/gateway/`)
    const { headers } = await ask({
      path: '/v1/messages?beta=true',
      body: '{"model":"claude-x"}',
      headers: {
        authorization: `Bearer ${runToken}`,
        cookie: 'c=d',
        te: 'trailers',
        'anthropic-beta': 'x',
        'accept-encoding': 'gzip',
      },
    })
    expect(seen?.url).toBe('/gateway/v1/messages?beta=true')
    expect(seen?.body).toBe('{"model":"claude-x"}')
    expect(seen?.headers).toMatchObject({
      'x-api-key': realKey,
      'anthropic-beta': 'x',
      'accept-encoding': 'identity',
    })
    expect(Object.keys(seen?.headers ?? {})).not.toEqual(
      expect.arrayContaining(['cookie', 'authorization', 'te']),
    )
    expect(JSON.stringify(seen)).not.toContain(runToken)
    expect(headers['request-id']).toBe('req_1')
    expect(headers['set-cookie']).toBeUndefined()
  })

  test('the token of a subscription goes in its own header, with its beta beside those of the client', async () => {
    let seen: IncomingHttpHeaders | undefined
    const baseUrl = await apiThat((incoming, response) => {
      seen = incoming.headers
      response.end('{}')
    })
    await brokerFor(baseUrl, {
      upstream: { kind: 'http', api: 'messages', baseUrl, apiKey: 'sk-ant-oat01-x', use: 'subscription' },
    })
    await ask({ headers: { 'anthropic-beta': 'one, two' } })
    expect(seen).toMatchObject({
      authorization: 'Bearer sk-ant-oat01-x',
      'anthropic-beta': 'one,two,oauth-2025-04-20',
    })
    expect(seen?.['x-api-key']).toBeUndefined()
  })

  test('a foreign address whose name leads into a private network is not connected to', async () => {
    let isAsked = false
    const baseUrl = await apiThat((_, response) => {
      isAsked = true
      response.end('{}')
    })
    const foreign = baseUrl.replace('127.0.0.1', 'localhost')
    await brokerFor(foreign, {
      upstream: { kind: 'http', api: 'messages', baseUrl: foreign, apiKey: realKey, isForeign: true },
    })
    expect((await ask()).status).toBe(502)
    expect(isAsked).toBe(false)
  })

  test('finding 14: what the model’s side would fetch, or comes in a coding, reaches no API', async () => {
    let reached = 0
    const { faults } = await brokerFor(
      await apiThat((request, response) => {
        reached += 1
        request.resume()
        response.end('{}')
      }),
    )
    const body = '{"mcp_servers":[{"type":"url","url":"https://evil.example"}]}'
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const { status, body: answer } = await ask({ path, body })
      expect(status).toBe(400)
      expect(JSON.parse(answer)).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('mcp_servers') },
      })
    }
    expect((await ask({ headers: { 'content-encoding': 'gzip' } })).status).toBe(400)
    expect(reached).toBe(0)
    expect(faults).toEqual(['fetches', 'fetches', 'malformed'])
  })

  test('finding 14: betas of what is fetched stay behind, and a body is called what it was read as', async () => {
    const seen: IncomingHttpHeaders[] = []
    await brokerFor(
      await apiThat((request, response) => {
        seen.push(request.headers)
        request.resume()
        response.end('{}')
      }),
    )
    const type = { 'content-type': 'application/json; charset=utf-7' }
    await ask({ headers: { ...type, 'anthropic-beta': 'mcp-client-2025-11-20, x-1,files-api-2025-04-14' } })
    await ask({ headers: { ...type, 'anthropic-beta': 'web-fetch-2025-09-10' } })
    expect(seen.map((headers) => headers['anthropic-beta'])).toEqual(['x-1', undefined])
    expect(seen.map((headers) => headers['content-type'])).toEqual(['application/json', 'application/json'])
  })

  test('a stream passes byte for byte, and is metered', async () => {
    const { usage, faults } = await brokerFor(await apiThat(streams))
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(body).toBe(stream.join(''))
    await until(() => usage.length === 1)
    expect(usage).toEqual([streamUsage])
    expect(faults).toEqual([])
  })

  test('the beginning of a stream arrives before its end is sent', async () => {
    let finish = () => {}
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
      finish = () => response.end('data: last\n\n')
    })
    await brokerFor(baseUrl)
    const answer = await send()
    const [first] = await once(answer, 'data')
    expect(String(first)).toBe('data: first\n\n')
    finish()
    await once(answer, 'end')
  })

  test('a whole answer is metered, a count of tokens is not', async () => {
    const message = { type: 'message', model: 'claude-x', usage: { input_tokens: 3, output_tokens: 4 } }
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify(message))
    })
    const { usage } = await brokerFor(baseUrl)
    await ask({ path: '/v1/messages/count_tokens?beta=true' })
    await ask()
    await until(() => usage.length > 0)
    expect(usage).toEqual([
      { model: 'claude-x', inputTokens: 3, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 },
    ])
  })

  test('each call of a model is told once it is over, to the turn in which it began', async () => {
    const baseUrl = await apiThat((request, response) => {
      if (request.headers['x-say'] === undefined) return streams(request, response)
      request.resume()
      response.writeHead(529, { 'content-type': 'application/json' }).end('{}')
    })
    const { broker } = await brokerFor(baseUrl)
    const calls: ModelCall[] = []
    const body = '{"model":"claude-asked","messages":[]}'
    broker.admit(anyAmount, (call) => calls.push(call))
    await ask({ body })
    await ask({ body, path: '/v1/messages/count_tokens' })
    await ask({ body: '{}', headers: { 'x-say': 'overloaded' } })
    await until(() => calls.length === 2)
    broker.admit(null)
    await ask({ body })
    expect(calls).toMatchObject([
      { requestModel: 'claude-asked', usage: streamUsage, status: 200 },
      { requestModel: undefined, usage: undefined, status: 529 },
    ])
    for (const { begun, ended } of calls) expect(ended).toBeGreaterThanOrEqual(begun)
  })

  test('an error of the API passes as it is; a refused key is noticed', async () => {
    const refusal = '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}'
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.writeHead(401, { 'content-type': 'application/json', 'retry-after': '7' })
      response.end(refusal)
    })
    const { faults, usage } = await brokerFor(baseUrl)
    const { status, headers, body } = await ask()
    expect({ status, retry: headers['retry-after'], body }).toEqual({
      status: 401,
      retry: '7',
      body: refusal,
    })
    expect(faults).toEqual(['key_refused'])
    expect(usage).toEqual([])
  })

  test('an API that answers before it has read everything is heard', async () => {
    const baseUrl = await apiThat((_, response) => {
      response.writeHead(413, { 'content-type': 'application/json', connection: 'close' })
      response.end('{"too":"large"}')
    })
    await brokerFor(baseUrl)
    const { status, body } = await ask({ body: JSON.stringify({ model: 'x'.repeat(4_000_000) }) })
    expect({ status, body }).toEqual({ status: 413, body: '{"too":"large"}' })
  })
})

describe('the Gemini API', () => {
  const upstream = (baseUrl: string) => ({ kind: 'http', api: 'gemini', baseUrl, apiKey: realKey }) as const
  const streamed = '/v1beta/models/gemini-x:streamGenerateContent'
  const asked = (more: Asked = {}): Asked => ({
    path: streamed,
    ...more,
    headers: { 'x-api-key': [], 'x-goog-api-key': runToken, ...more.headers },
  })

  test('the key takes the place of the token, and of the query nothing but the form of the answer passes', async () => {
    const seen: { url: string; headers: IncomingHttpHeaders }[] = []
    const baseUrl = await apiThat((request, response) => {
      seen.push({ url: request.url ?? '', headers: request.headers })
      request.resume()
      response.end('{}')
    })
    await brokerFor(baseUrl, { upstream: upstream(`${baseUrl}/gateway`) })
    await ask(asked({ path: `${streamed}?alt=sse&key=theirs&fields=candidates` }))
    await ask(asked({ path: '/v1beta/models/gemini-x:countTokens?key=theirs' }))
    expect(seen.map(({ url }) => url)).toEqual([
      `/gateway${streamed}?alt=sse`,
      '/gateway/v1beta/models/gemini-x:countTokens',
    ])
    for (const { headers } of seen) expect(headers['x-goog-api-key']).toBe(realKey)
    expect(JSON.stringify(seen)).not.toContain(runToken)
  })

  test('a key in the query, or another token, is refused', async () => {
    const { faults } = await brokerFor('', { upstream: upstream('http://127.0.0.1:1') })
    const inQuery = { path: `${streamed}?key=${runToken}`, headers: { 'x-goog-api-key': [] } }
    for (const one of [inQuery, { headers: { 'x-goog-api-key': 'other' } }]) {
      const { status, body } = await ask(asked(one))
      expect(status).toBe(401)
      expect(JSON.parse(body)).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } })
    }
    expect(faults).toEqual(['bad_token', 'bad_token'])
  })

  test('a stream is metered and told by the model of its path; a budget ends it in our words', async () => {
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 2 }
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify({ modelVersion: 'gemini-x-001', usageMetadata })}\r\n\r\n`)
    })
    const { broker, usage } = await brokerFor(baseUrl, { upstream: upstream(baseUrl) })
    const calls: ModelCall[] = []
    broker.admit(budgetOf(15), (call) => calls.push(call))
    await ask(asked())
    await until(() => calls.length === 1)
    expect(usage).toMatchObject([{ model: 'gemini-x-001', inputTokens: 10, outputTokens: 7 }])
    expect(calls).toMatchObject([{ requestModel: 'gemini-x', status: 200 }])
    const { status, body } = await ask(asked())
    expect(status).toBe(403)
    expect(JSON.parse(body)).toEqual({
      error: { code: 403, message: budgetUsedUp, status: 'PERMISSION_DENIED' },
    })
  })

  test('a key that an error quotes stays outside', async () => {
    const words = `Permission denied: Consumer 'api_key:${realKey}' has been suspended.`
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      const body = JSON.stringify({ error: { code: 403, message: words } })
      response.writeHead(403, { 'content-type': 'application/json', 'content-length': body.length })
      response.write(body.slice(0, 60))
      setTimeout(() => response.end(body.slice(60)), 20)
    })
    await brokerFor(baseUrl, { upstream: upstream(baseUrl) })
    const { status, body } = await ask(asked())
    expect(status).toBe(403)
    expect(JSON.parse(body).error.message).toBe(words.replace(realKey, '[key]'))
  })

  test('a body that is too deep to be read is refused', async () => {
    const { faults } = await brokerFor('', { upstream: upstream('http://127.0.0.1:1') })
    const deep = (count: number) => `${'{"generateContentRequest":'.repeat(count)}{}${'}'.repeat(count)}`
    for (const body of [deep(2_000), deep(100_000)]) expect((await ask(asked({ body }))).status).not.toBe(200)
    expect(faults).not.toContain('broke_off')
  })
})

describe('the Responses API, whose answers tell what they used only at their end,', () => {
  const upstream = (baseUrl: string) =>
    ({ kind: 'http', api: 'responses', baseUrl, apiKey: realKey }) as const
  const asked = (more: object = {}): Asked => ({
    path: '/v1/responses',
    body: JSON.stringify({ model: 'gpt-5', store: false, input: 'x'.repeat(4_000), ...more }),
  })
  const delta = 'data: {"type":"response.output_text.delta","delta":"word"}\n\n'

  test('is estimated where the client leaves before that', async () => {
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(delta.repeat(3))
    })
    const { usage } = await brokerFor(baseUrl, { upstream: upstream(baseUrl) })
    const image = `data:image/png;base64,${'A'.repeat(400_000)}`
    const picture = { type: 'message', content: [{ type: 'input_image', image_url: image }] }
    const answer = await send(asked({ input: [picture, 'x'.repeat(4_000)] }))
    await once(answer, 'data')
    answer.destroy()
    await until(() => usage.length === 1)
    expect(usage).toMatchObject([{ model: 'gpt-5', outputTokens: 3 }])
    expect(usage[0]?.inputTokens).toBeGreaterThan(1_000)
    expect(usage[0]?.inputTokens).toBeLessThan(1_100)
  })

  test.each([
    [
      'response.failed',
      { type: 'response.failed', response: { object: 'response', model: 'gpt-5', usage: null } },
    ],
    ['error', { type: 'error', code: 'server_error', message: 'The server is overloaded.' }],
  ])('is nothing where the provider fails with %s', async (_, failure) => {
    const response = { object: 'response', model: 'gpt-5', usage: { input_tokens: 7, output_tokens: 5 } }
    const events: object[] = [failure, { type: 'response.completed', response }]
    const baseUrl = await apiThat((request, answer) => {
      request.resume()
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      answer.end(`data: ${JSON.stringify(events.shift())}\n\n`)
    })
    const { usage } = await brokerFor(baseUrl, { upstream: upstream(baseUrl) })
    await ask(asked())
    await ask(asked())
    await until(() => usage.length > 0)
    expect(usage).toMatchObject([{ model: 'gpt-5', inputTokens: 7, outputTokens: 5 }])
  })

  test('is read where that end repeats the whole answer, in a line of megabytes', async () => {
    const used = { input_tokens: 7, output_tokens: 5 }
    const response = { object: 'response', model: 'gpt-5', instructions: 'x'.repeat(3_000_000), usage: used }
    const baseUrl = await apiThat((request, answer) => {
      request.resume()
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      answer.end(`${delta}data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`)
    })
    const { usage } = await brokerFor(baseUrl, { upstream: upstream(baseUrl) })
    await ask(asked())
    await until(() => usage.length === 1)
    expect(usage).toMatchObject([{ model: 'gpt-5', inputTokens: 7, outputTokens: 5 }])
  })
})

describe('bounds', () => {
  test('a reader that is slow holds the API back', async () => {
    let sent = 0
    const total = 200
    const baseUrl = await apiThat(async (request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let i = 0; i < total; i += 1) {
        sent += 1
        if (!response.write('x'.repeat(1024 * 1024))) await once(response, 'drain')
      }
      response.end()
    })
    await brokerFor(baseUrl)
    const answer = await send()
    await once(answer, 'readable')
    await sleep(300)
    expect(sent).toBeLessThan(40)
    let bytes = 0
    for await (const chunk of answer) bytes += chunk.length
    expect(bytes).toBe(total * 1024 * 1024)
  })

  test('a request that says it is too large is refused', async () => {
    const { faults } = await brokerFor('http://127.0.0.1:1', { bodyBytes: 1000 })
    const { status, body } = await ask({ body: 'x'.repeat(1001) })
    expect(status).toBe(413)
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'request_too_large' } })
    expect(faults).toEqual(['too_large'])
  })

  test('a request that does not say how large it is, and is too large, is refused as well', async () => {
    const { faults } = await brokerFor(await apiThat((request) => request.resume()), { bodyBytes: 1000 })
    const outgoing = httpRequest({
      socketPath,
      method: 'POST',
      path: '/v1/messages',
      headers: { 'x-api-key': runToken },
    })
    outgoing.write('x'.repeat(600))
    outgoing.write('x'.repeat(600))
    const [answer] = await once(outgoing, 'response')
    expect(answer.statusCode).toBe(413)
    outgoing.destroy()
    expect(faults).toEqual(['too_large'])
  })

  const upstreams = [
    ['the real API', () => apiThat(streams)],
    ['the scripted model', undefined],
  ] as const
  // Holds findings 1.10.
  test.each(upstreams)(
    'finding 3: a request of %s with more values than any conversation is refused before it is read',
    async (_, api) => {
      const { faults } = await brokerFor(
        (await api?.()) ?? '',
        api ? {} : { upstream: { kind: 'scripted', api: 'messages' } },
      )
      const values = `{"model":"claude-x","max_tokens":1,"messages":[],"x":[${'{},'.repeat(250_001)}0]}`
      const { status, body } = await ask({ body: values })
      expect(status).toBe(413)
      expect(JSON.parse(body)).toMatchObject({ error: { type: 'request_too_large' } })
      expect(faults).toEqual(['too_many_values'])
      // What stands in words is one value, however it is written.
      const words = JSON.stringify({
        model: 'claude-x',
        max_tokens: 1,
        messages: [{ role: 'user', content: '",{[\\'.repeat(100_000) }],
      })
      expect((await ask({ body: words })).status).toBe(200)
    },
  )

  // Holds findings 1.11.
  test('finding 3: a long request is looked through beside the server, those of a run one after the other, and passed on as it is', async () => {
    const heard: string[] = []
    const baseUrl = await apiThat(async (request, response) => {
      heard.push((await bodyOf(request)).toString())
      response.end('{}')
    })
    let atOnce = 0
    let most = 0
    const watched: BrokerOptions['threads'] = {
      async run(work) {
        most = Math.max(most, (atOnce += 1))
        const answer = await threads.run(work)
        atOnce -= 1
        return answer
      },
    }
    await brokerFor(baseUrl, { threads: watched })
    const long = (over: object) => ({
      body: JSON.stringify({ ...over, messages: [{ role: 'user', content: 'ü'.repeat(100_000) }] }),
    })
    const asked = [long({ n: 1 }), long({ n: 2 }), { body: '{"n":3}' }]
    const answers = await Promise.all(asked.map(ask))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(heard.toSorted()).toEqual(asked.map(({ body }) => body).toSorted())
    expect(most).toBe(1)
    const fetching = await ask(long({ mcp_servers: [{ type: 'url', url: 'https://evil.example' }] }))
    expect(fetching.status).toBe(400)
    expect(heard).toHaveLength(3)
  })

  test('what could not be inspected is not passed on', async () => {
    const { faults } = await brokerFor(await apiThat(streams), {
      threads: { run: () => Promise.reject(new Error('The thread ended.')) },
    })
    const { status, body } = await ask({ body: JSON.stringify({ messages: [], x: 'x'.repeat(100_000) }) })
    expect(status).toBe(400)
    expect(body).toContain('could not be inspected')
    expect(faults).toEqual(['fetches'])
  })

  test('finding 3: the requests of a run hold no more together than four of the largest', async () => {
    const held: (() => void)[] = []
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      held.push(() => response.end('{}'))
    })
    await brokerFor(baseUrl, { bodyBytes: 1_000 })
    const large = { body: `{"x":"${'x'.repeat(900)}"}` }
    const first = [large, large, large, large].map(ask)
    await until(() => held.length === 4)
    expect((await ask(large)).status).toBe(429)
    for (const release of held) release()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const next = ask(large)
    await until(() => held.length === 5)
    held[4]?.()
    expect((await next).status).toBe(200)
  })

  test('so many requests at once, and no more', async () => {
    const held: (() => void)[] = []
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      held.push(() => response.end('{}'))
    })
    await brokerFor(baseUrl, { concurrency: 2 })
    const first = [ask(), ask()]
    await until(() => held.length === 2)
    expect((await ask()).status).toBe(429)
    for (const release of held) release()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('once the budget is used up, every request is refused', async () => {
    const { usage } = await brokerFor(await apiThat(streams), {
      budget: budgetOf(24),
    })
    expect((await ask()).status).toBe(200)
    await until(() => usage.length === 1)
    const { status, body } = await ask()
    expect(status).toBe(403)
    expect(JSON.parse(body)).toEqual({
      type: 'error',
      error: { type: 'permission_error', message: budgetUsedUp },
    })
  })

  test('a client that leaves while its budget is looked up takes no place', async () => {
    let lookedUp: (() => void) | undefined
    const slow: Budget = {
      ...anyAmount,
      refusal: () => new Promise((resolve) => (lookedUp = () => resolve(undefined))),
    }
    const { broker } = await brokerFor(await apiThat(streams), { budget: slow, concurrency: 1 })
    const leaving = httpRequest({
      socketPath,
      method: 'POST',
      path: '/v1/messages',
      headers: { 'x-api-key': runToken },
    })
    leaving.on('error', () => undefined)
    leaving.end('{}')
    await until(() => lookedUp !== undefined)
    leaving.destroy()
    broker.admit(anyAmount)
    expect((await ask()).status).toBe(200)
    lookedUp?.()
    expect((await ask()).status).toBe(200)
  })
})

describe('faults', () => {
  test('an API that cannot be reached', async () => {
    const { faults } = await brokerFor('http://127.0.0.1:1')
    const { status, body } = await ask()
    expect(status).toBe(502)
    expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(faults).toEqual(['unreachable'])
  })

  test('an API that redirects', async () => {
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.writeHead(301, { location: 'https://example.com/' })
      response.end()
    })
    const { faults } = await brokerFor(baseUrl)
    expect((await ask()).status).toBe(502)
    expect(faults).toEqual(['redirected'])
  })

  test('an API that is silent', async () => {
    const { faults } = await brokerFor(
      await apiThat((request) => request.resume()),
      {},
      { idleTimeoutMs: 100 },
    )
    expect((await ask()).status).toBe(504)
    expect(faults).toEqual(['timed_out'])
  })

  test('an API that takes no connection', async () => {
    const waiting = createTcpServer((socket) => socket.on('error', () => undefined))
    await new Promise<void>((resolve) => waiting.listen(0, '127.0.0.1', resolve))
    clean.push(async () => waiting.close())
    const https = addressOf(waiting.address()).replace('http:', 'https:')
    const { faults } = await brokerFor(https, {}, { connectTimeoutMs: 100 })
    expect((await ask()).status).toBe(504)
    expect(faults).toEqual(['timed_out'])
  })

  test('an answer that breaks off is not taken for a whole one, and what it used is counted', async () => {
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(stream.slice(0, 2).join(''), () => response.destroy())
    })
    const { broker, faults, usage } = await brokerFor(baseUrl)
    const calls: ModelCall[] = []
    broker.admit(anyAmount, (call) => calls.push(call))
    const answer = await send()
    await expect(bodyOf(answer)).rejects.toThrow('aborted')
    await until(() => calls.length === 1)
    expect(usage).toEqual([{ ...streamUsage, outputTokens: 1 }])
    expect(calls).toMatchObject([{ status: 'broken_off', usage: usage[0] }])
    expect(faults).toEqual(['broke_off'])
  })

  test('a client that goes away takes its request to the API with it', async () => {
    let gone = false
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      response.on('close', () => {
        gone = true
      })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
    })
    const { faults } = await brokerFor(baseUrl)
    const answer = await send()
    await once(answer, 'data')
    answer.destroy()
    await until(() => gone)
    expect(faults).toEqual([])
  })

  test('a client that goes away before the API has answered does so too', async () => {
    let arrived = false
    let gone = false
    const baseUrl = await apiThat((request, response) => {
      request.resume()
      arrived = true
      response.on('close', () => {
        gone = true
      })
    })
    const { faults } = await brokerFor(baseUrl)
    const outgoing = httpRequest({
      socketPath,
      method: 'POST',
      path: '/v1/messages',
      headers: { 'x-api-key': runToken },
    })
    outgoing.on('error', () => undefined)
    outgoing.end('{}')
    await until(() => arrived)
    outgoing.destroy()
    await until(() => gone)
    expect(faults).toEqual([])
  })
})

describe('the socket', () => {
  test('is gone after the broker closed, also when an answer was under way', async () => {
    const { broker } = await brokerFor(await apiThat((request) => request.resume()))
    const pending = ask().catch((error: unknown) => error)
    await sleep(20)
    await broker.close()
    expect(await pending).toBeInstanceOf(Error)
    expect(await readdir(folder)).toEqual([])
  })

  test('that a dead runner left is taken over', async () => {
    const { broker } = await brokerFor('http://127.0.0.1:1')
    const second = await brokerFor(await apiThat(streams))
    expect((await ask()).status).toBe(200)
    await second.broker.close()
    await broker.close()
  })

  test('does not take the place of anything else', async () => {
    await writeFile(socketPath, 'precious')
    await chmod(socketPath, 0o600)
    await expect(brokerFor('http://127.0.0.1:1')).rejects.toThrow('EADDRINUSE')
    await access(socketPath)
  })

  test('needs a path that fits', async () => {
    await expect(
      brokerFor('http://127.0.0.1:1', { listen: { socketPath: `/${'x'.repeat(107)}` } }),
    ).rejects.toThrow('DATA_DIR')
  })
})

describe('with the scripted model', () => {
  const scripted = (more: Partial<BrokerOptions> = {}) =>
    brokerFor('', { upstream: { kind: 'scripted', api: 'messages', pauseMs: 1 }, ...more })
  const body = JSON.stringify({
    model: 'flightdeck-scripted',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Name this talk' }],
  })

  test('it answers whole, streamed, and counts', async () => {
    const { usage } = await scripted()
    const whole = JSON.parse((await ask({ body })).body)
    expect(whole).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Name this talk' }],
    })
    const streamed = await ask({ body: body.replace('{', '{"stream":true,') })
    expect(streamed.headers['content-type']).toBe('text/event-stream')
    expect(streamed.body).toContain('event: message_stop')
    const counted = await ask({ body, path: '/v1/messages/count_tokens' })
    expect(JSON.parse(counted.body)).toMatchObject({ input_tokens: expect.any(Number) })
    expect(usage.length).toBe(2)
    expect(usage[0]?.outputTokens).toBe(whole.usage.output_tokens)
  })

  test.each(['', '{', '{"model":1}', '{"model":"m","messages":[]}'])('%j is refused', async (malformed) => {
    const { faults } = await scripted()
    const { status, body } = await ask({ body: malformed })
    expect(status).toBe(400)
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error' } })
    expect(faults).toEqual(['malformed'])
  })

  test('a client that goes away ends its answer', async () => {
    const { faults, usage } = await scripted({
      upstream: { kind: 'scripted', api: 'messages', pauseMs: 10_000 },
    })
    const answer = await send({ body: body.replace('{', '{"stream":true,') })
    answer.destroy()
    await sleep(50)
    expect(faults).toEqual([])
    expect(usage).toEqual([])
  })
})
