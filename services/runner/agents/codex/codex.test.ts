import { expect, test } from 'vitest'
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

test('it is started headless, asks nobody, and reaches the broker alone', () => {
  const { argv } = codex.launch(request)
  expect(argv.slice(0, 2)).toEqual(['/opt/agent/bin/codex', 'exec'])
  expect(argv).toContain('--dangerously-bypass-approvals-and-sandbox')
  expect(argv).toContain('model_provider="flightdeck"')
  expect(argv).toContain('model_providers.flightdeck.base_url="http://127.0.0.1:31281/v1"')
  expect(argv.at(-1)).toBe('-')
})

test('its token is in the environment and not among the arguments', () => {
  const { argv, env } = codex.launch(request)
  expect(argv.join(' ')).not.toContain('run-token')
  expect(env).toMatchObject({ FLIGHTDECK_RUN_TOKEN: 'run-token' })
})

test('it names its sessions itself, and takes one up by that name', () => {
  expect(codex.launch(request).argv).not.toContain('proposed')
  const { argv } = codex.launch({ ...request, session: { kind: 'resume', id: 'thread-1' } })
  expect(argv.slice(0, 3)).toEqual(['/opt/agent/bin/codex', 'exec', 'resume'])
  expect(argv.slice(-2)).toEqual(['thread-1', '-'])
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
  expect(codex.launch({ ...request, model }).argv.includes(model)).toBe(isPassed)
})

test('the repository is not trusted, and its instructions are named where there are some', () => {
  const [instructions, configuration] = codexHome(new Set(['AGENTS.md', 'README.md']), '/workspace')
  expect(instructions?.content).toContain('/workspace/AGENTS.md')
  expect(configuration?.content).toContain('[projects."/workspace"]\ntrust_level = "untrusted"')
  expect(codexHome(new Set())[0]?.content).toBe('')
})
