import { describe, expect, test } from 'vitest'
import { checkBody, servedBy } from '../modelApi.ts'
import { createMeter } from '../meter.ts'
import { geminiApi, refusal } from './api.ts'

const usageMetadata = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  toolUsePromptTokenCount: 5,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 7,
  totalTokenCount: 132,
}
const counted = {
  model: 'gemini-x',
  inputTokens: 65,
  outputTokens: 27,
  cacheReadTokens: 40,
  cacheWriteTokens: 0,
}

describe('what is counted', () => {
  const metered = (...events: object[]) => {
    const meter = createMeter(geminiApi, 'text/event-stream')
    for (const event of events) meter.read(Buffer.from(`data: ${JSON.stringify(event)}\r\n\r\n`))
    return meter.total()
  }
  const begun = {
    candidates: [],
    modelVersion: 'gemini-x',
    usageMetadata: { promptTokenCount: 100, cachedContentTokenCount: 40, toolUsePromptTokenCount: 5 },
  }

  test('a stream by what its parts say, thoughts among what was answered', () => {
    expect(metered(begun, { modelVersion: 'gemini-x', usageMetadata })).toEqual(counted)
  })
  test('a stream that broke off after its first part', () => {
    expect(metered(begun)).toEqual({ ...counted, outputTokens: 0 })
  })
  test('a stream whose last part says less than one before', () => {
    expect(metered({ modelVersion: 'gemini-x', usageMetadata }, begun)).toEqual(counted)
  })
  test('a whole answer', () => {
    const meter = createMeter(geminiApi, 'application/json; charset=UTF-8')
    meter.read(Buffer.from(JSON.stringify({ candidates: [], modelVersion: 'gemini-x', usageMetadata })))
    expect(meter.total()).toEqual(counted)
  })
  test('nothing of what says nothing', () => {
    expect(metered({ candidates: [] }, { totalTokens: 5 })).toBe(undefined)
  })
})

describe('what is served', () => {
  test.each([
    ['/v1beta/models/gemini-2.5-pro:generateContent', true, ''],
    ['/v1beta/models/gemini-2.5-pro:streamGenerateContent', true, '?alt=sse'],
    ['/v1beta/models/gemini-2.5-pro:countTokens', false, ''],
  ])('%s', (path, isMetered, query) =>
    expect(servedBy(geminiApi, path)).toEqual({ path, isMetered, query, model: 'gemini-2.5-pro' }),
  )

  test.each([
    '/v1beta/models',
    '/v1beta/models/gemini-2.5-pro',
    '/v1beta/models/:generateContent',
    '/v1beta/models/gemini-2.5-pro:embedContent',
    '/v1beta/models/gemini-2.5-pro:batchGenerateContent',
    '/v1beta/models/a/../../files/x:generateContent',
    '/v1beta/models/%2e%2e:generateContent',
    '/v1beta/tunedModels/mine:generateContent',
    '/v1beta/cachedContents',
    '/upload/v1beta/files',
    '/v1beta/models/x:generateContent/',
  ])('%s is not', (path) => expect(servedBy(geminiApi, path)).toBe(undefined))
})

test('the key has a header of its own, and no other of Google’s is passed on', () => {
  expect(geminiApi.credentials('AIza-real')).toEqual({ 'x-goog-api-key': 'AIza-real' })
  expect(geminiApi.credentials('sk-x', 'gateway')).toEqual({
    'x-goog-api-key': 'sk-x',
    authorization: 'Bearer sk-x',
  })
  const headers = {
    'x-goog-user-project': 'theirs',
    'x-goog-fieldmask': 'candidates',
    'x-http-method-override': 'DELETE',
    'x-goog-api-client': 'sdk',
    'user-agent': 'GeminiCLI',
  }
  expect(geminiApi.passedHeaders(headers, { modelFetches: true })).toEqual({
    'x-goog-api-client': 'sdk',
    'user-agent': 'GeminiCLI',
  })
})

const body = (more: object) =>
  JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...more })
const checkText = (text: string, modelFetches = false) => {
  const checked = checkBody({ refusal }, Buffer.from(text), { modelFetches })
  return checked.kind === 'fine' ? { ...checked, body: Buffer.from(checked.body).toString() } : checked
}
const check = (more: object, modelFetches = false) => checkText(body(more), modelFetches)
const said = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] })
const file = (fileUri: string) => ({ fileData: { mimeType: 'image/png', fileUri } })

describe('what the model’s side would fetch, run or keep', () => {
  test.each([
    { tools: [{ codeExecution: {} }] },
    { tools: [{ code_execution: {} }] },
    { tools: [{ functionDeclarations: [], codeExecution: {} }] },
    { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/x'] } }] },
    { tools: [{ retrieval: {} }] },
    { tools: [{ aToolThatIsNew: {} }] },
    { tools: { codeExecution: {} } },
    { cachedContent: 'cachedContents/1' },
    { cached_content: 'cachedContents/1' },
    { store: true },
    said(file('https://generativelanguage.googleapis.com/v1beta/files/abc')),
    said(file('files/abc')),
    said(file('gs://bucket/a')),
    said({ file_data: { file_uri: 'gs://bucket/a' } }),
    said({ fileData: { fileUri: '' }, file_data: { file_uri: 'gs://bucket/a' } }),
    said({ functionResponse: { name: 'a', response: {}, parts: [file('files/abc')] } }),
    { systemInstruction: { parts: [file('files/abc')] } },
    { system_instruction: { parts: [file('files/abc')] } },
    { contents: { parts: { fileData: { fileUri: 'files/abc' } } } },
    { generateContentRequest: { tools: [{ codeExecution: {} }] } },
  ])('%j is refused whatever the project allows', (more) => {
    expect(check(more).kind).toBe('refused')
    expect(check(more, true).kind).toBe('refused')
  })

  test.each([
    { tools: [{ googleSearch: {} }] },
    { tools: [{ google_search: {} }] },
    { tools: [{ googleSearchRetrieval: {} }] },
    { tools: [{ urlContext: {} }] },
    { tools: [{ mcpServers: [{ name: 'a' }] }] },
    said(file('https://www.youtube.com/watch?v=1')),
    said(file('https://example.com/files/a.png')),
    { generateContentRequest: { tools: [{ urlContext: {} }] } },
  ])('%j is for the project to allow', (more) => {
    expect(check(more)).toMatchObject({ kind: 'refused', sentence: expect.stringContaining('settings') })
    expect(check(more, true).kind).toBe('fine')
  })

  test.each([
    { tools: [{ functionDeclarations: [{ name: 'codeExecution', parametersJsonSchema: {} }] }] },
    { tools: null },
    { store: false },
    said({ text: 'fileData: files/abc' }),
    said({ inlineData: { mimeType: 'image/png', data: 'iVBO' } }),
    said({ functionCall: { name: 'a', args: { fileData: { fileUri: 'files/abc' } } } }),
    said({ functionResponse: { name: 'a', response: { tools: [{ codeExecution: {} }] } } }),
    { generationConfig: { thinkingConfig: { includeThoughts: true } } },
  ])('%j is passed on', (more) => {
    expect(check(more)).toEqual({ kind: 'fine', body: body(more), model: undefined })
  })

  test('of a name that stands twice the last is passed on, and it alone', () => {
    expect(checkText('{"tools":[{"codeExecution":{}}],"tools":[]}')).toMatchObject({ body: '{"tools":[]}' })
  })

  test('what is no JSON, or no request, is refused', () => {
    for (const text of ['{', '[]', '"words"', 'null', '{"contents":[["a"]]}', '{"contents":[{"parts":[7]}]}'])
      expect(checkText(text, true).kind).toBe('refused')
  })
})
