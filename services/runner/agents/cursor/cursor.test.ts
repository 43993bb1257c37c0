import { describe, expect, test } from 'vitest'
import { cursor } from './cursor.ts'

const request = {
  binary: '/opt/agent/cursor-agent',
  session: { kind: 'new', id: 'proposed' },
  model: null,
  access: { kind: 'key', apiKey: 'key-of-cursor' },
  isRoot: false,
  mode: 'free',
  allowedRules: [],
} as const

test('it is started headless, prints lines, and asks nobody', () => {
  const { argv } = cursor.launch(request)
  expect(argv).toEqual([
    '/opt/agent/cursor-agent',
    '-p',
    '--output-format',
    'stream-json',
    '--stream-partial-output',
    '--force',
  ])
})

test('its key is in the environment and not among the arguments', () => {
  const { argv, env } = cursor.launch(request)
  expect(argv.join(' ')).not.toContain('key-of-cursor')
  expect(env).toMatchObject({ CURSOR_API_KEY: 'key-of-cursor' })
})

test('it names its sessions itself, and takes one up by that name', () => {
  expect(cursor.launch(request).argv).not.toContain('proposed')
  const { argv } = cursor.launch({ ...request, session: { kind: 'resume', id: 'chat-1' } })
  expect(argv.slice(-2)).toEqual(['--resume', 'chat-1'])
})

test('its settings are in its home once, for it to keep its own beside them', () => {
  const [file] = cursor.home()
  expect(file).toMatchObject({ path: '.cursor/cli-config.json', onlyOnce: true })
  expect(JSON.parse(file?.content ?? '')).toMatchObject({
    version: 1,
    network: { useHttp1ForAgent: true },
    attribution: { attributeCommitsToAgent: false },
  })
})

test('a token for the broker is of no use to it', () => {
  const access = { kind: 'socket', socketPath: '/s', runToken: 't', scripted: false } as const
  expect(() => cursor.launch({ ...request, access })).toThrow('key')
})

describe('models', () => {
  test.each([
    'auto',
    'grok',
    'composer-2-fast',
    'gpt-5.3-codex-high',
    'claude-opus-4-7-low',
    'sonnet-4.5-thinking',
  ])('%s is passed on', (model) => {
    expect(cursor.launch({ ...request, model }).argv.slice(-2)).toEqual(['--model', model])
  })
  test.each(['o4-mini', 'opus', '--print', 'gpt-5 --force', ''])('%j is not passed on', (model) => {
    expect(cursor.launch({ ...request, model }).argv).not.toContain('--model')
  })
})

describe('what it says on standard error when it fails', () => {
  test.each([
    ['Cannot use this model: gpt-9. Available models: auto, composer-2', 'bad_model', null],
    ['⚠ Warning: The provided API key is invalid.', 'unauthorized', null],
    ["Error: Authentication required. Please run 'agent login' first", 'unauthorized', null],
    ['\u001B[31mError: request failed with status 401\u001B[0m', 'unauthorized', 401],
    ['ConnectError: [resource_exhausted] Error', 'rate_limited', null],
    ['Error: 429 Too Many Requests', 'rate_limited', 429],
    ['Error: 529 Overloaded', 'overloaded', 529],
    ['ConnectError: [unavailable] Service Unavailable', 'overloaded', null],
    ['ConnectError: [internal] Error 500', 'api_error', 500],
    ['Error: getaddrinfo ENOTFOUND somewhere', 'api_error', null],
    ['Error: Chat 1234 not found', 'unknown_session', null],
  ])('%j is %s', (said, code, httpStatus) => {
    expect(cursor.faultOf(said)).toMatchObject({ code, httpStatus })
  })
  test('is told by its beginning and its end, where it lists every model there is', () => {
    const listed = Array.from({ length: 300 }, (_, n) => `gpt-${n}-codex-high`).join(', ')
    const fault = cursor.faultOf(`Cannot use this model: gpt-9. Available models: ${listed}`)
    expect(fault).toMatchObject({ code: 'bad_model' })
    expect(fault?.message).toMatch(
      /\(Cannot use this model: gpt-9\..* characters left out .*gpt-299-codex-high\)$/s,
    )
    expect(fault?.message.length).toBeLessThanOrEqual(700)
  })
  test('is left to speak for itself where it is not known', () => {
    expect(cursor.faultOf('Segmentation fault')).toBe(null)
    expect(cursor.faultOf('')).toBe(null)
  })
  test('names the variable to whoever can set the key', () => {
    expect(cursor.faultOf('Invalid API key')?.message).toMatch(/CURSOR_API_KEY.*\(Invalid API key\)$/)
  })
})
