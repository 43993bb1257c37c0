/** Traces by the conventions for generative AI: an operator's own tools show what an agent did, without a word of the conversation. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTask, type Task } from '#domain/api/tasks.schema.ts'
import { apiKey } from '../product.ts'
import { startOtlpCollector, type CollectedSpan, type OtlpCollector } from '../standins/otlpCollector.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const bash = (command: string) => ({
  tools: [{ name: 'Bash', input: { command, description: 'Words-of-an-agent' } }],
})

let scene: Scene
let collector: OtlpCollector
let task: Task
let trace: readonly CollectedSpan[] = []

beforeAll(async () => {
  collector = await startOtlpCollector()
  scene = await openScene(
    [
      {
        turns: [
          bash('echo words-of-an-agent > words-of-a-file.txt'),
          bash('cat words-of-a-missing-file.txt'),
          { text: 'words-of-a-model' },
        ],
      },
    ],
    { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_GENAI: '1' } },
  )
  const { ada, projectId } = scene
  const body = { description: 'Words-of-a-person', projectId, branch: 'main', agent: 'claude' }
  const answer = await ada.api('POST', '/tasks', body)
  const traceId = answer.headers.get('x-request-id')?.replaceAll('-', '')
  task = createTask.answer.parse(answer.body).task
  await ada.taskOnce(task.id, hasEnded)
  const traceOf = (spans: readonly CollectedSpan[]) => spans.filter((span) => span.traceId === traceId)
  const isWhole = (spans: readonly CollectedSpan[]) => {
    const names = new Set(traceOf(spans).map(({ name }) => name))
    return names.has('invoke_agent claude') && names.has('run execution')
  }
  trace = traceOf(await collector.until('the turn and its run', isWhole))
})
afterAll(async () => {
  await scene?.close()
  await collector?.close()
})

const genAi = () => trace.filter(({ scope }) => scope === 'semantic-conventions-genai@0.1.0')
const operation = (name: string) =>
  genAi().filter(({ attributes }) => attributes['gen_ai.operation.name'] === name)

test('a turn is below its run, with its agent, its task and what it used', () => {
  const [turn, ...more] = operation('invoke_agent')
  expect(more).toEqual([])
  const run = trace.find(({ name }) => name === 'run execution')
  expect(turn).toMatchObject({
    name: 'invoke_agent claude',
    kind: 1,
    parentSpanId: run?.spanId,
    ok: true,
    attributes: {
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.agent.name': 'claude',
      'gen_ai.agent.version': expect.stringMatching(/^\d+\.\d+/),
      'gen_ai.conversation.id': task.id,
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'flightdeck.cost.usd': expect.any(Number),
    },
  })
  const { begun = 0n, ended = 0n } = run ?? {}
  expect(turn?.begun).toBeGreaterThanOrEqual(begun)
  expect(turn?.ended).toBeLessThanOrEqual(ended)
})

test('its tools and its calls of models are below it', () => {
  const [turn] = operation('invoke_agent')
  const tools = operation('execute_tool')
  expect(tools.map(({ name, ok, attributes }) => [name, ok, attributes['error.type']])).toEqual([
    ['execute_tool Bash', true, undefined],
    ['execute_tool Bash', false, 'tool_failed'],
  ])
  const calls = operation('chat').filter(({ ok }) => ok)
  // One for each answer of the script; the program asks some more for itself, and may leave those.
  expect(calls.length).toBeGreaterThanOrEqual(3)
  for (const { name, kind, attributes } of calls) {
    const model = attributes['gen_ai.request.model']
    expect(model).toMatch(/^claude-/)
    expect(name).toBe(`chat ${model}`)
    expect(kind).toBe(3)
    expect(attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0)
  }
  const below = [...tools, ...calls]
  expect(new Set(below.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([turn?.spanId]))
  const { begun = 0n } = turn ?? {}
  for (const span of below) {
    expect(span.begun).toBeGreaterThanOrEqual(begun)
    expect(span.ended).toBeGreaterThanOrEqual(span.begun)
  }
})

test('no word of the conversation is sent, nor a name of a file, an argument or a key', () => {
  expect(collector.faults).toEqual([])
  const sent = collector.raw.join('\n')
  for (const secret of ['ords-of-a', 'Ada Lovelace', scene.ada.token, apiKey, 'README', 'engine', 'echo '])
    expect(sent).not.toContain(secret)
  const allowed =
    /^(gen_ai\.(operation|provider|agent|tool|request|response|usage|conversation)\.|error\.type$|flightdeck\.cost\.usd$)/
  const names = genAi().flatMap(({ attributes }) => Object.keys(attributes))
  expect(
    names.filter((name) => !allowed.test(name) || /messages|instructions|arguments|result/.test(name)),
  ).toEqual([])
})
