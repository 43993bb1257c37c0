import { describe, expect, test } from 'vitest'
import { checkBody } from '../modelApi.ts'
import { createMeter } from '../meter.ts'
import { refusal, responsesApi } from './api.ts'

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

const checkText = (text: string, modelFetches = false) => {
  const checked = checkBody({ refusal }, Buffer.from(text), { modelFetches })
  return checked.kind === 'fine' ? { ...checked, body: Buffer.from(checked.body).toString() } : checked
}

const body = (more: object = {}) => JSON.stringify({ model: 'gpt-5', store: false, input: [], ...more })
const check = (more: object, modelFetches = false) => checkText(body(more), modelFetches)

const message = (...content: object[]) => ({ input: [{ type: 'message', role: 'user', content }] })

describe('finding 14: what the model’s side would fetch, run or keep', () => {
  test.each([
    { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    { tools: [{ type: 'file_search' }] },
    { tools: [{ type: 'image_generation' }] },
    { tools: [{ type: 'namespace', tools: [{ type: 'code_interpreter' }] }] },
    { input: [{ type: 'additional_tools', tools: [{ type: 'file_search' }] }] },
    { input: [{ type: 'item_reference', id: 'msg_1' }] },
    message({ type: 'input_file', file_id: 'file_1' }),
    { input: [{ type: 'function_call_output', output: [{ type: 'input_image', file_id: 'file_1' }] }] },
    { previous_response_id: 'resp_1' },
    { conversation: 'conv_1' },
    { prompt: { id: 'pmpt_1' } },
    { store: true },
    { store: null },
    { background: true },
    { tools: 'all' },
  ])('%j is refused whatever the project allows', (more) => {
    expect(check(more).kind).toBe('refused')
    expect(check(more, true).kind).toBe('refused')
  })

  test.each([
    { tools: [{ type: 'web_search' }] },
    { tools: [{ type: 'web_search_preview_2025_03_11' }] },
    { tools: [{ type: 'mcp', server_url: 'https://example.com' }] },
    message({ type: 'input_image', image_url: 'https://example.com/a.png' }),
    message({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
  ])('%j is for the project to allow', (more) => {
    expect(check(more)).toMatchObject({ kind: 'refused', sentence: expect.stringContaining('settings') })
    expect(check(more, true).kind).toBe('fine')
  })

  test.each([
    {
      tools: [
        { type: 'function', name: 'exec_command' },
        { type: 'custom', name: 'apply_patch' },
      ],
    },
    { tools: [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }] },
    message({ type: 'input_text', text: 'see https://example.com' }),
    message({ type: 'input_image', image_url: 'data:image/png;base64,iVBO' }),
    { input: 'words' },
  ])('%j is passed on', (more) => {
    expect(check(more)).toEqual({ kind: 'fine', body: body(more), model: 'gpt-5' })
  })

  test('of a name that stands twice the last is passed on, and it alone', () => {
    const twice = '{"model":"m","store":true,"store":false,"input":[]}'
    expect(checkText(twice)).toEqual({
      kind: 'fine',
      body: '{"model":"m","store":false,"input":[]}',
      model: 'm',
    })
  })

  test('what is no JSON, or no request, is refused', () => {
    expect(checkText('{', true).kind).toBe('refused')
    expect(checkText('[]', true).kind).toBe('refused')
  })
})
