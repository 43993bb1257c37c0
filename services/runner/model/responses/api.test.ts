import { expect, test } from 'vitest'
import { createMeter } from '../meter.ts'
import { responsesApi } from './api.ts'

const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
}
const response = { object: 'response', model: 'gpt-5', usage }
const counted = {
  model: 'gpt-5',
  inputTokens: 60,
  outputTokens: 20,
  cacheReadTokens: 40,
  cacheWriteTokens: 0,
}

test.each(['response.completed', 'response.incomplete', 'response.failed'])(
  'a stream is counted by its last event, %s',
  (type) => {
    const meter = createMeter(responsesApi, 'text/event-stream')
    const begun = { type: 'response.created', response: { ...response, usage: null } }
    for (const event of [begun, { type, response }])
      meter.read(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
    expect(meter.total()).toEqual(counted)
  },
)

test('a whole answer is counted', () => {
  const meter = createMeter(responsesApi, 'application/json')
  meter.read(Buffer.from(JSON.stringify(response)))
  expect(meter.total()).toEqual(counted)
})

test('an answer that says nothing of its use is not counted', () => {
  const meter = createMeter(responsesApi, 'text/event-stream')
  meter.read(Buffer.from('data: {"type":"response.output_text.delta","delta":"usage"}\n\n'))
  expect(meter.total()).toBe(undefined)
})

test('the key is a bearer, and which account pays is for the key to say', () => {
  expect(responsesApi.credentials('sk-real')).toEqual({ authorization: 'Bearer sk-real' })
  const headers = { 'openai-organization': 'org-1', 'openai-project': 'p', originator: 'codex_exec' }
  expect(responsesApi.passedHeaders(headers, { modelFetches: false })).toEqual({ originator: 'codex_exec' })
})
