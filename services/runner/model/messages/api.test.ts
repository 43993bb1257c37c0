import { describe, expect, test } from 'vitest'
import { checkBody } from '../modelApi.ts'
import { passesBeta, refusal } from './api.ts'

const checkText = (text: string, modelFetches = false) => {
  const checked = checkBody({ refusal }, Buffer.from(text), { modelFetches })
  return checked.kind === 'fine' ? { ...checked, body: Buffer.from(checked.body).toString() } : checked
}

const request = (over: object = {}) => ({
  model: 'claude-x',
  max_tokens: 10,
  system: [{ type: 'text', text: 'Be good.' }],
  messages: [{ role: 'user', content: 'Hello' }],
  ...over,
})
const said = (...content: readonly unknown[]) => request({ messages: [{ role: 'user', content }] })
const check = (body: unknown, modelFetches = false) => checkText(JSON.stringify(body), modelFetches)
const elsewhere = { type: 'url', url: 'https://evil.example/?q=secret' }

describe('finding 14: what the model’s side would fetch or run', () => {
  // Holds findings 1.49.
  test.each([
    [
      'servers of tools',
      request({ mcp_servers: [{ type: 'url', url: 'https://evil.example' }] }),
      'mcp_servers',
    ],
    [
      'a search',
      request({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
      'web_search_20250305',
    ],
    ['a fetch', request({ tools: [{ name: 'a' }, { type: 'web_fetch_20250910', name: 'f' }] }), 'web_fetch'],
    ['code', request({ tools: [{ type: 'code_execution_20250825', name: 'c' }] }), 'code_execution'],
    ['a tool that is not known', request({ tools: [{ type: 'bash_2025\n', name: 'c' }] }), 'bash_2025'],
    ['a container', request({ container: 'container_1' }), 'container'],
    ['an image by its address', said({ type: 'image', source: elsewhere }), 'source: url'],
    ['a document by its address', said({ type: 'document', source: elsewhere }), 'source: url'],
    ['a file', said({ type: 'document', source: { type: 'file', file_id: 'f' } }), 'source: file'],
    ['an upload to a container', said({ type: 'container_upload', file_id: 'f' }), 'source: file'],
    [
      'an image in what a tool answered',
      said({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: elsewhere }] }),
      'source: url',
    ],
    [
      'an image in a document',
      said({
        type: 'document',
        source: { type: 'content', content: [{ type: 'image', source: elsewhere }] },
      }),
      'source: url',
    ],
    [
      'an image in the system’s words',
      request({ system: [{ type: 'image', source: elsewhere }] }),
      'source: url',
    ],
    [
      'an image in a block with an odd source',
      said({
        type: 'tool_result',
        tool_use_id: 't',
        source: null,
        content: [{ type: 'image', source: elsewhere }],
      }),
      'source: url',
    ],
    ['an address in a block of another type', said({ type: 'video', source: elsewhere }), 'source: url'],
    [
      'a block that is in no list',
      request({ messages: [{ role: 'user', content: { type: 'image', source: elsewhere } }] }),
      'source: url',
    ],
    [
      'an image that is in no list in what a tool answered',
      said({ type: 'tool_result', tool_use_id: 't', content: { type: 'image', source: elsewhere } }),
      'source: url',
    ],
    [
      'a source without a kind',
      said({ type: 'image', source: { url: 'https://evil.example' } }),
      'source: unknown',
    ],
    ['tools that are no list', request({ tools: { type: 'web_search_20250305' } }), 'tools'],
  ])('%s is refused, by its name', (_, body, named) => {
    const checked = check(body)
    expect(checked).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(named) })
  })

  test.each([
    ['words', request()],
    ['no servers', request({ mcp_servers: [] })],
    [
      'an image as it is',
      said({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }),
    ],
    [
      'tools of the agent',
      request({
        tools: [
          { name: 'Bash', input_schema: {} },
          { type: 'custom', name: 'x' },
          { type: 'text_editor_20250728', name: 'e' },
        ],
      }),
    ],
    [
      'what a search found',
      said({ type: 'search_result', source: 'https://docs.example', title: 'T', content: [] }),
    ],
    [
      'a tool whose input speaks of a source',
      said({ type: 'tool_use', id: 't', name: 'x', input: { source: elsewhere } }),
    ],
  ])('%s are passed on as they were looked at', (_, body) =>
    expect(check(body)).toEqual({ kind: 'fine', body: JSON.stringify(body), model: 'claude-x' }),
  )

  test('of a name that stands twice only what was looked at is passed on', () => {
    const twice = '{"mcp_servers":[{"type":"url","url":"https://evil.example"}],"model":"m","mcp_servers":[]}'
    expect(checkText(twice)).toEqual({
      kind: 'fine',
      body: '{"mcp_servers":[],"model":"m"}',
      model: 'm',
    })
  })

  test.each([false, true])('what is no JSON is refused', (modelFetches) =>
    expect(checkText('{', modelFetches)).toMatchObject({ kind: 'refused' }),
  )
})

describe('finding 14: where a project lets the model’s side fetch', () => {
  test.each([
    ['servers of tools', request({ mcp_servers: [{ type: 'url', url: 'https://tools.example' }] })],
    ['their tools', request({ tools: [{ type: 'mcp_toolset', mcp_server_name: 'tools' }] })],
    ['a search', request({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })],
    ['a fetch', request({ tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] })],
    ['an image by its address', said({ type: 'image', source: elsewhere })],
  ])('%s: passed on', (_, body) =>
    expect(check(body, true)).toEqual({ kind: 'fine', body: JSON.stringify(body), model: 'claude-x' }),
  )

  test.each([
    ['code', request({ tools: [{ type: 'code_execution_20250825', name: 'c' }] }), 'code_execution'],
    ['a container', request({ container: 'container_1' }), 'container'],
    ['a file', said({ type: 'document', source: { type: 'file', file_id: 'f' } }), 'source: file'],
    ['an upload to a container', said({ type: 'container_upload', file_id: 'f' }), 'source: file'],
    [
      'a tool that is not known',
      request({ tools: [{ type: 'web_search_2025\n', name: 'c' }] }),
      'web_search',
    ],
  ])('%s: refused as ever', (_, body, named) =>
    expect(check(body, true)).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(named) }),
  )

  test('betas of what fetches pass, and those of files and code do not', () => {
    const betas = [
      'mcp-client-2025-11-20',
      'web-fetch-2025-09-10',
      'files-api-2025-04-14',
      'skills-2025-10-02',
    ]
    expect(betas.map((beta) => passesBeta(beta, { modelFetches: true }))).toEqual([true, true, false, false])
    expect(betas.some((beta) => passesBeta(beta, { modelFetches: false }))).toBe(false)
  })
})
