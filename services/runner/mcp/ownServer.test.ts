/** Our own MCP server, reached through the broker as an agent does, by the client of the official SDK and by clients that misbehave. */
import { Readable } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, expect, test } from 'vitest'
import type { AgentEvent } from '../agents/port.ts'
import { ownServerPath, ownTools } from '../agents/ownTools.ts'
import { mostAsked } from '../agents/parser.ts'
import { startBroker } from '../model/broker.ts'
import { mcpGateway } from './gateway.ts'
import { ownServer } from './ownServer.ts'

let clean: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of clean.reverse()) await step()
  clean = []
})

const blue = { choices: ['Blue'], text: 'and not red', values: [] }

async function opened() {
  const own = ownServer(ownTools)
  const broker = await startBroker({
    listen: 'loopback',
    runToken: 'of-this-run',
    upstream: { kind: 'scripted', api: 'messages' },
    mcp: mcpGateway({ servers: [], own, onFault: () => undefined }),
    threads: { run: () => Promise.reject(new Error('Nobody asks the model.')) },
    onUsage: () => undefined,
    onFault: () => undefined,
  })
  clean.push(() => broker.close())
  const events: AgentEvent[] = []
  let next = (): void => undefined
  own.follow(async (event) => {
    events.push(event)
    next()
  })
  const url = new URL(`http://127.0.0.1:${broker.port}${ownServerPath}`)
  const connect = async (token = 'of-this-run') => {
    const client = new Client({ name: 'test', version: '1' })
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    clean.push(() => client.close())
    return client
  }
  const questions = () => events.flatMap((event) => (event.type === 'question' ? [event] : []))
  return {
    own,
    events,
    connect,
    questions,
    /** The events once there are so many. */
    async until(count: number) {
      while (events.length < count) await new Promise<void>((resolve) => (next = resolve))
      return events
    },
  }
}

const ask = (question: string, more: object = {}) => ({
  name: 'ask_person',
  arguments: { question, ...more },
})

test('a question becomes an event of the turn, and its answer the result of the call', async () => {
  const { own, connect, until, questions } = await opened()
  const client = await connect()
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([...ownTools])
  const call = client.callTool(
    ask('Which <b>colour</b>?', { options: [{ label: 'Red' }, { label: 'Blue' }] }),
  )
  await until(1)
  const [question] = questions()
  expect(question?.asked).toMatchObject([
    { kind: 'question', title: 'Which <b>colour</b>?', allowsText: true, multiple: false },
  ])
  expect(own.answer(question?.requestId ?? '', [blue])).toBe(true)
  expect(own.answer(question?.requestId ?? '', [blue])).toBe(false)
  expect(await call).toMatchObject({
    content: [{ text: 'The person answers: Blue, and not red' }],
    isError: false,
  })
})

test('two questions at once are answered apart, and a long one is cut as those of other agents', async () => {
  const { own, connect, until, questions } = await opened()
  const client = await connect()
  const options = Array.from({ length: 200 }, (_, index) => ({ label: `${index}`.repeat(900) }))
  const calls = [client.callTool(ask('x'.repeat(90_000), { options })), client.callTool(ask('Second?'))]
  await until(2)
  for (const { requestId, asked } of questions()) {
    expect(JSON.stringify(asked).length).toBeLessThan(60_000)
    own.answer(requestId, [{ ...blue, text: asked[0]?.title === 'Second?' ? 'two' : 'one' }])
  }
  const [first, second] = await Promise.all(calls)
  expect(first).toMatchObject({ content: [{ text: 'The person answers: Blue, one' }] })
  expect(second).toMatchObject({ content: [{ text: 'The person answers: Blue, two' }] })
})

test('a call that the agent cancels withdraws its question', async () => {
  const { own, connect, until } = await opened()
  const client = await connect()
  const cancelled = new AbortController()
  const call = client.callTool(ask('Which colour?'), undefined, { signal: cancelled.signal })
  const [question] = await until(1)
  cancelled.abort()
  await expect(call).rejects.toThrow('aborted')
  const requestId = question?.type === 'question' ? question.requestId : ''
  expect((await until(2))[1]).toEqual({ type: 'question_withdrawn', requestId })
  expect(own.answer(requestId, [blue])).toBe(false)
})

test('the end of the turn ends what waits, and between turns nobody is asked', async () => {
  const { own, connect, until, events } = await opened()
  const client = await connect()
  const call = client.callTool(ask('Which colour?'))
  await until(1)
  own.follow(null)
  expect(await call).toMatchObject({ isError: true, content: [{ text: 'The turn is over.' }] })
  expect(await client.callTool(ask('And now?'))).toMatchObject({ isError: true })
  expect(events).toHaveLength(1)
})

test('a question that nobody may answer, or that cannot be read, is told so', async () => {
  const { own, connect, until, questions } = await opened()
  const client = await connect()
  const call = client.callTool(ask('Which colour?'))
  await until(1)
  own.answer(questions()[0]?.requestId ?? '', [])
  expect(await call).toMatchObject({ isError: true, content: [{ text: 'Nobody can answer this.' }] })
  expect(await client.callTool(ask(' '))).toMatchObject({ isError: true })
  expect(await client.callTool({ name: 'ask_everybody' })).toMatchObject({ isError: true })
})

test('of a flood of questions only so many wait', async () => {
  const { own, events } = await opened()
  const refused: string[] = []
  const closed: (() => void)[] = []
  const call = async () => {
    const response = {
      headersSent: false,
      destroyed: false,
      writeHead: () => (response.headersSent = true),
      flushHeaders: () => undefined,
      write: () => true,
      once: (_event: 'close', then: () => void) => void closed.push(then),
      end: (text: string) => void refused.push(text),
    }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask('Which colour?') }
    const request = Object.assign(Readable.from([Buffer.from(JSON.stringify(message))]), { method: 'POST' })
    await own.serve(request as never, response as never)
  }
  for (let count = 0; count < 10_000; count += 1) await call()
  expect(events).toHaveLength(mostAsked)
  expect(refused).toHaveLength(10_000 - mostAsked)
  own.follow(null)
  for (const then of closed) then()
})

test('a call with the token of another run asks nobody', async () => {
  const { connect, events } = await opened()
  await expect(connect('of-another-run')).rejects.toThrow('no access')
  expect(events).toEqual([])
})

test('a to-do list becomes a tool call of that kind', async () => {
  const { connect, events } = await opened()
  const client = await connect()
  const todos = [{ content: 'Ask first', status: 'completed' }]
  expect(await client.callTool({ name: 'update_todo_list', arguments: { todos } })).toMatchObject({
    isError: false,
  })
  expect(events).toMatchObject([
    { type: 'tool_started', kind: 'todo', input: JSON.stringify({ todos }) },
    { type: 'tool_finished', ok: true },
  ])
})
