import { describe, expect, test } from 'vitest'
import { callWithinMs } from '../../mcp/gateway.ts'
import { claude } from './claude.ts'

const longestQuestionMs = 576 * 3_600_000

const request = {
  binary: '/opt/claude',
  session: { kind: 'new', id: '0f6e2a66-2f3c-4b38-9f0e-7f5a0d7c9a11' },
  model: null,
  access: { kind: 'socket', socketPath: '/run/model.sock', runToken: 'run-token', scripted: false },
  isRoot: false,
  mode: 'free',
  allowedRules: [],
} as const

describe('models', () => {
  test.each([
    'opus',
    'sonnet[1m]',
    'claude-3.5-sonnet-20241022',
    'anthropic.claude-opus-4:0',
    'house/model_7',
  ])('%s is passed on', (model) => {
    expect(claude.launch({ ...request, model }).argv.slice(-2)).toEqual(['--model', model])
  })
  test.each(['o4-mini', 'gpt-5', 'auto', '--settings', 'claude-x y', 'claude\n', ''])(
    '%j is not passed on',
    (model) => {
      expect(claude.launch({ ...request, model }).argv).not.toContain('--model')
    },
  )
  test('the scripted model goes by its own name, whatever was asked for', () => {
    const { argv } = claude.launch({
      ...request,
      model: 'opus',
      access: { ...request.access, scripted: true },
    })
    expect(argv.slice(-2)).toEqual(['--model', 'flightdeck-scripted'])
  })
})

test('a running process is told only what changes, before the message', () => {
  const { choose } = claude.dialogue({ model: 'opus', mode: 'free' })
  const told = (use: Parameters<typeof choose>[0]) =>
    choose(use)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).request)
  expect(told({ model: 'opus', effort: null })).toEqual([])
  expect(told({ model: 'sonnet', effort: 'high' })).toEqual([
    { subtype: 'set_model', model: 'sonnet' },
    { subtype: 'apply_flag_settings', settings: { effortLevel: 'high' } },
  ])
  // Another agent's model is its default.
  expect(told({ model: 'gpt-5', effort: 'high' })).toEqual([{ subtype: 'set_model', model: null }])
  expect(told({ model: null, effort: null })).toEqual([
    { subtype: 'apply_flag_settings', settings: { effortLevel: null } },
  ])
})

test('a session is begun or resumed by its id', () => {
  expect(claude.launch(request).argv.slice(-2)).toEqual(['--session-id', request.session.id])
  const resumed = claude.launch({ ...request, session: { kind: 'resume', id: request.session.id } })
  expect(resumed.argv.slice(-2)).toEqual(['--resume', request.session.id])
})

test('the token is in the environment and not among the arguments', () => {
  const { argv, env } = claude.launch(request)
  expect(argv.join(' ')).not.toContain('run-token')
  expect(env).toMatchObject({ ANTHROPIC_API_KEY: 'run-token', ANTHROPIC_UNIX_SOCKET: '/run/model.sock' })
})

test('a remote MCP server may be silent for as long as the gateway waits for it and for a person', () => {
  const server = {
    name: 'tiny',
    kind: 'http',
    url: 'http://127.0.0.1:1/mcp/tiny',
    bearer: 'b',
    toolsOff: [],
  } as const
  const { argv } = claude.launch({ ...request, mcpServers: [server] })
  const { mcpServers } = JSON.parse(argv[argv.indexOf('--mcp-config') + 1] ?? '')
  expect(mcpServers.tiny.timeout).toBeGreaterThan(longestQuestionMs + callWithinMs)
})

test('a tool of an MCP server is switched off by the name that claude gives it', () => {
  const toolsOff = ['files.read', 'files/write', 'drop table', 'a,b', 'add-1']
  const server = { name: 'tiny', kind: 'stdio', command: 'node', args: [], env: {}, toolsOff } as const
  const { argv } = claude.launch({ ...request, mcpServers: [server] })
  const off = argv[argv.indexOf('--disallowedTools') + 1]?.split(',') ?? []
  expect(off.filter((tool) => tool.startsWith('mcp__'))).toEqual([
    'mcp__tiny__files_read',
    'mcp__tiny__files_write',
    'mcp__tiny__drop_table',
    'mcp__tiny__a_b',
    'mcp__tiny__add-1',
  ])
})

test('a rule that claude would read as several is not passed on, and is asked about again', () => {
  const rulesIn = (allowedRules: readonly string[]) => {
    const { argv } = claude.launch({ ...request, mode: 'ask', allowedRules })
    const at = argv.indexOf('--allowedTools')
    return at === -1 ? [] : argv.slice(at + 1, argv.indexOf('--permission-prompt-tool'))
  }
  const split = ['Bash(python3 -c "print(1)" Bash x)', 'command /workspace rg Edit src', 'Bash,Edit', 'Bash(']
  expect(rulesIn([...split, 'Bash(npm test *)', 'mcp__tiny-1__add'])).toEqual([
    'Bash(npm test *)',
    'mcp__tiny-1__add',
  ])
  expect(rulesIn(split)).toEqual([])
})

test('a real key is not handed to it', () => {
  expect(() => claude.launch({ ...request, access: { kind: 'key', apiKey: 'sk-real' } })).toThrow('broker')
})

test('a message is one line, whatever is in it', () => {
  const line = claude.dialogue({ model: null, mode: 'free' }).message({
    text: 'two\nlines',
    images: [{ mediaType: 'image/gif', base64: 'R0lG' }],
    id: 'sending-1',
  })
  expect(line.indexOf('\n')).toBe(line.length - 1)
  expect(JSON.parse(line)).toMatchObject({
    type: 'user',
    uuid: 'sending-1',
    message: { content: [{ type: 'image' }, { text: 'two\nlines' }] },
  })
})
