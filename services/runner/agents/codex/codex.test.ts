import { expect, test } from 'vitest'
import type { DialogueRequest, ModelUse } from '../port.ts'
import { codex } from './codex.ts'
import { codexHome } from './home.ts'

const request = {
  binary: '/opt/agent/bin/codex',
  session: { kind: 'new', id: 'proposed' },
  model: null,
  access: { kind: 'loopback', origin: 'http://127.0.0.1:31281', runToken: 'run-token', scripted: false },
  isRoot: false,
  mode: 'free',
  allowedRules: [],
} as const

test('it is started as a server, and reaches the broker alone', () => {
  const { argv } = codex.launch(request)
  expect(argv.slice(0, 2)).toEqual(['/opt/agent/bin/codex', 'app-server'])
  expect(argv).toContain('model_provider="flightdeck"')
  expect(argv).toContain('model_providers.flightdeck.base_url="http://127.0.0.1:31281/v1"')
})

const openingLines = [
  '{"id":1,"result":{}}',
  '{"id":2,"result":{"thread":{"id":"thread-1"},"model":"m"}}',
  '{"id":"models","result":{"data":[{"model":"own","displayName":"Own","isDefault":true}]}}',
]

/** What it is written when it is first sent a message, up to the message itself. */
function opening(asked: DialogueRequest): readonly string[] {
  const dialogue = codex.dialogue(asked)
  const first = dialogue.message({ text: 'Go', images: [], id: 'a' })
  const written = openingLines
    .flatMap((line) => dialogue.push(`${line}\n`))
    .flatMap((event) => (event.type === 'write' ? [event.text] : []))
  return [first, ...written].join('').trim().split('\n')
}
const asked = { model: null, mode: 'free' } as const

test('its token is in the environment and not among the arguments', () => {
  const { argv, env } = codex.launch(request)
  expect(argv.join(' ')).not.toContain('run-token')
  expect(env).toMatchObject({ FLIGHTDECK_RUN_TOKEN: 'run-token' })
})

test('its MCP servers are among the arguments, without what is secret', () => {
  const { argv } = codex.launch({
    ...request,
    mcpServers: [
      {
        name: 'near',
        kind: 'stdio',
        command: 'a b',
        args: ['"\n\u007f'],
        env: { KEY: 'swordfish' },
        toolsOff: ['x'],
      },
      { name: 'far', kind: 'http', url: 'http://127.0.0.1:31281/mcp/1', bearer: 'run-token', toolsOff: [] },
    ],
  })
  const [near, far] = argv.filter((argument) => argument.startsWith('mcp_servers.'))
  expect(near).toMatch(
    /^mcp_servers\.near=\{ command = "a b", args = \["\\"\\n\\u007f"\], env_vars = \["KEY", "HTTP_PROXY"/,
  )
  expect(near).toContain('disabled_tools = ["x"]')
  expect(far).toContain('bearer_token_env_var = "FLIGHTDECK_RUN_TOKEN"')
  expect(argv.join(' ')).not.toMatch(/run-token|swordfish/)
})

test('a message is sent once every server has started or failed, also if codex does not list them', () => {
  const servers = ['a', 'b'].map(
    (name) => ({ name, kind: 'http', url: '', bearer: '', toolsOff: [] }) as const,
  )
  const dialogue = codex.dialogue({ ...asked, mcpServers: servers })
  const told = (line: object) =>
    dialogue
      .push(`${JSON.stringify(line)}\n`)
      .flatMap((event) => (event.type === 'write' ? [event.text] : []))
  dialogue.message({ text: 'Go', images: [], id: 'm' })
  told({ id: 1, result: {} })
  told({ id: 'models', error: { message: 'Unknown method' } })
  expect(told({ id: 2, result: { thread: { id: 'thread-1' }, model: 'm' } })).toHaveLength(2)
  const listed = { name: 'a', runtimeStatus: 'connected', tools: { add: {} } }
  expect(told({ id: 3, result: { data: [listed] } })).toEqual([])
  expect(told({ id: 4, error: { message: 'Unknown method' } })).toEqual([
    expect.stringContaining('turn/start'),
  ])
  const begun = { method: 'turn/started', params: { threadId: 'thread-1', turn: { id: 't' } } }
  expect(dialogue.push(`${JSON.stringify(begun)}\n`)).toMatchObject([
    {
      type: 'mcp_servers',
      servers: [
        { name: 'a', isConnected: true, tools: ['add'] },
        { name: 'b', isConnected: false, tools: [] },
      ],
    },
    { type: 'session' },
  ])
})

test('it names its sessions itself, and takes one up by that name', () => {
  const [, , begun] = opening(asked)
  expect(JSON.parse(begun ?? '')).toMatchObject({ method: 'thread/start', params: { cwd: '/workspace' } })
  const [, , resumed] = opening({ ...asked, session: 'thread-1' })
  expect(JSON.parse(resumed ?? '')).toMatchObject({
    method: 'thread/resume',
    params: { threadId: 'thread-1' },
  })
})

test.each([
  ['free', 'never', 'default'],
  ['ask', 'untrusted', 'default'],
  ['plan', 'untrusted', 'plan'],
] as const)('in the mode %s it asks: %s', (mode, approvalPolicy, collaboration) => {
  expect(JSON.parse(opening({ ...asked, mode }).at(-1) ?? '')).toMatchObject({
    method: 'turn/start',
    params: {
      threadId: 'thread-1',
      clientUserMessageId: 'a',
      approvalPolicy,
      collaborationMode: { mode: collaboration },
    },
  })
})

test('each turn uses the model and effort that are chosen by then, or its own default', () => {
  const dialogue = codex.dialogue({ ...asked, session: 'thread-1' })
  const settings = (line: string) => JSON.parse(line).params.collaborationMode.settings
  dialogue.message({ text: 'Go', images: [], id: 'a' })
  const opened = openingLines.flatMap((line) => dialogue.push(`${line}\n`)).at(-1)
  expect(settings(opened?.type === 'write' ? opened.text : '')).toMatchObject({
    model: 'own',
    reasoning_effort: null,
  })
  const next = (use: ModelUse) => {
    expect(dialogue.choose?.(use)).toBe('')
    return settings(dialogue.message({ text: 'Go on', images: [], id: 'b' }))
  }
  expect(next({ model: 'gpt-5', effort: 'high' })).toMatchObject({ model: 'gpt-5', reasoning_effort: 'high' })
  expect(next({ model: 'opus', effort: null })).toMatchObject({ model: 'own', reasoning_effort: null })
})

test('a real key is not handed to it', () => {
  expect(() => codex.launch({ ...request, access: { kind: 'key', apiKey: 'sk-real' } })).toThrow('broker')
})

test.each([
  ['gpt-5', true],
  ['o4-mini', true],
  ['codex-mini-latest', true],
  ['opus', false],
  ['claude-opus-4', false],
  ['auto', false],
])('the model %s is passed on: %s', (model, isPassed) => {
  const [, , begun] = opening({ ...asked, model })
  expect(JSON.parse(begun ?? '').params.model).toBe(isPassed ? model : undefined)
})

test('the repository is not trusted, and its instructions are named where there are some', () => {
  const [instructions, configuration] = codexHome(new Set(['AGENTS.md', 'README.md']), '/workspace')
  expect(instructions?.content).toContain('/workspace/AGENTS.md')
  expect(configuration?.content).toContain('[projects."/workspace"]\ntrust_level = "untrusted"')
  expect(codexHome(new Set())[0]?.content).toBe('')
})
