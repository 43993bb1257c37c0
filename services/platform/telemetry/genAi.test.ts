/** Spans in the conventions for generative AI, made from the events that a runner appends. */
import { expect, test } from 'vitest'
import type { DomainEvent } from '#domain/events.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import {
  AgentStarted,
  ExecutionCancelled,
  ExecutionCompleted,
  ExecutionFailed,
  ExecutionStarted,
  MessagePosted,
  ToolFinished,
  ToolStarted,
  UsageRecorded,
} from '#domain/task/events.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { executionId, messageId, taskId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import { genAiSpans } from './genAi.ts'
import type { ModelCalled } from './telemetry.ts'
import { spansOf, type Span } from './traces.ts'

const requestId = '0af76519-16cd-43dd-8448-eb211c80319c'
const origin = { correlationId: requestId, causationId: 'event-that-asked' }
const stream = taskStream(taskId(1))
const execution = { executionId: executionId(1) }
const work = { ...execution, messageId: messageId(1) }
const noChanges = { exitCode: null, additions: null, deletions: null }

const started = ExecutionStarted.of({ ...work, attempt: 1, runnerId: 'r' })
const agentStarted = AgentStarted.of({
  ...execution,
  agent: 'claude',
  version: '2.1.329',
  sessionId: 'session',
  resumed: false,
})
const completed = ExecutionCompleted.of({ ...work, exitCode: null, terminal: null })
const tool = (kind: 'run' | 'other', name: string, toolId = 'toolu_1') =>
  ToolStarted.of(
    { ...execution, toolId, kind, parentToolId: null },
    { name, target: 'words-of-a-file', input: 'words-of-an-agent' },
  )
const finished = (ok: boolean, durationMs: number | null = 5, toolId = 'toolu_1') =>
  ToolFinished.of(
    { ...execution, toolId, ok, durationMs, ...noChanges },
    { summary: 'words', output: 'words' },
  )
const used = (model: string, costUsd: number) =>
  UsageRecorded.of({
    ...execution,
    model,
    inputTokens: 10,
    outputTokens: 20,
    cacheReadTokens: 300,
    cacheWriteTokens: 4_000,
    costUsd,
  })
const call: ModelCalled = {
  kind: 'model_call',
  ...execution,
  agent: 'claude',
  requestModel: 'claude-opus-9',
  usage: {
    model: 'claude-opus-9-20260101',
    inputTokens: 1,
    outputTokens: 2,
    cacheReadTokens: 30,
    cacheWriteTokens: 400,
  },
  status: 200,
  begun: 1_500,
  ended: 1_800,
}

/** A runner whose appends begin one second after each other, and take a tenth of a second each. */
function runner() {
  const spans = genAiSpans()
  let at = 0
  return {
    append(...events: readonly DomainEvent[]): readonly Span[] {
      at += 1_000
      const cause = { actor: { kind: 'system', service: 'runner' }, commandId: 'c', ...origin } as const
      const appended = events.map((event, revision) => recorded(event, { stream, revision }) as AnyRecorded)
      return spans({ kind: 'append', stream, cause, events: appended, begun: at, ended: at + 100 })
    },
    call: (more: Partial<ModelCalled> = {}) => spans({ ...call, ...more }),
    end: () => spans({ kind: 'run_ended', job: 'execution', origin, ok: true, begun: 0, ended: at }),
  }
}

test('a turn is one span below its run, from its start to its end, with what it used', () => {
  const { append } = runner()
  const nothing = [
    append(started),
    append(agentStarted),
    append(used('claude-opus-9', 0.25)),
    append(used('claude-opus-9', 0.5)),
  ]
  expect(nothing).toEqual([[], [], [], []])
  const [run] = spansOf(
    { kind: 'run_ended', job: 'execution', origin, ok: true, begun: 0, ended: 9_000 },
    'gateway',
  )
  expect(append(completed)).toEqual([
    {
      name: 'invoke_agent claude',
      kind: 'internal',
      traceId: requestId.replaceAll('-', ''),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      parentId: run?.spanId,
      begun: 1_000,
      ended: 5_100,
      ok: true,
      scope: { name: 'semantic-conventions-genai', version: '0.1.0' },
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.agent.name': 'claude',
        'gen_ai.agent.version': '2.1.329',
        'gen_ai.conversation.id': taskId(1),
        'gen_ai.response.model': 'claude-opus-9',
        'gen_ai.usage.input_tokens': 8_620,
        'gen_ai.usage.output_tokens': 40,
        'gen_ai.usage.cache_read.input_tokens': 600,
        'gen_ai.usage.cache_creation.input_tokens': 8_000,
        'flightdeck.cost.usd': 0.75,
      },
    },
  ])
})

test('a tool is below its turn, and says whether it failed', () => {
  const { append } = runner()
  append(started)
  append(agentStarted)
  append(tool('run', 'Bash'))
  const [ran] = append(finished(true))
  append(tool('run', 'Bash'))
  const [failed] = append(finished(false))
  append(tool('run', 'Bash', 'toolu_2'))
  const [unfinished, turn] = append(finished(false, null, 'toolu_2'), completed)
  expect(ran).toMatchObject({
    name: 'execute_tool Bash',
    kind: 'internal',
    parentId: turn?.spanId,
    begun: 3_000,
    ended: 4_100,
    ok: true,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'Bash',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'toolu_1',
    },
  })
  expect(ran?.attributes).not.toHaveProperty('error.type')
  expect(failed).toMatchObject({ ok: false, attributes: { 'error.type': 'tool_failed' } })
  expect(unfinished).toMatchObject({ ok: false, attributes: { 'error.type': 'unfinished' } })
  expect(new Set([ran, failed, unfinished, turn].map((span) => span?.spanId)).size).toBe(4)
})

test('a call of a model is below its turn, also before the agent has reported its start', () => {
  const { append, call: asked } = runner()
  append(started)
  const [chat] = asked()
  const [again] = asked()
  append(agentStarted)
  const [turn] = append(completed)
  expect(chat).toMatchObject({
    name: 'chat claude-opus-9',
    kind: 'client',
    parentId: turn?.spanId,
    begun: 1_500,
    ended: 1_800,
    ok: true,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-opus-9',
      'gen_ai.response.model': 'claude-opus-9-20260101',
      'gen_ai.usage.input_tokens': 431,
      'gen_ai.usage.output_tokens': 2,
    },
  })
  expect(again?.spanId).not.toBe(chat?.spanId)
})

test('a call that was refused or broke off says so, and without a model has a shorter name', () => {
  const { append, call: asked } = runner()
  append(started)
  expect(asked({ status: 529 })).toMatchObject([{ ok: false, attributes: { 'error.type': '529' } }])
  const [brokenOff] = asked({ status: 'broken_off', requestModel: undefined, usage: undefined })
  expect(brokenOff).toMatchObject({ name: 'chat', ok: false, attributes: { 'error.type': 'broken_off' } })
  expect(Object.keys(brokenOff?.attributes ?? {}).filter((name) => /usage|model/.test(name))).toEqual([])
})

test('a turn that failed or was cancelled says how, also when its agent never began', () => {
  const endOf = (event: DomainEvent) => {
    const { append } = runner()
    append(started)
    const data = { messageId: messageId(2), messageType: 'error', agent: 'codex', ...execution } as const
    append(MessagePosted.of(data, { message: 'words' }))
    return append(event)
  }
  const failed = (code: string) =>
    ExecutionFailed.of({ ...work, code, exitCode: 1, terminal: null, retryAt: null }, { reason: 'words' })
  const errorOf = (spans: readonly Span[]) =>
    spans.map(({ ok, attributes }) => [ok, attributes['error.type']])
  expect(endOf(failed('agent_died'))).toMatchObject([
    { name: 'invoke_agent codex', attributes: { 'gen_ai.provider.name': 'openai' } },
  ])
  expect(errorOf(endOf(failed('agent_died')))).toEqual([[false, 'agent_died']])
  expect(errorOf(endOf(failed('Words of somebody')))).toEqual([[false, '_OTHER']])
  expect(errorOf(endOf(ExecutionCancelled.of({ ...work, terminal: null })))).toEqual([[false, 'cancelled']])
})

test('no span holds words: of names that a program chose, only those that the agent itself gave', () => {
  const { append, call: asked } = runner()
  append(started)
  append(agentStarted, used('Some words of somebody', 0))
  const spans = [
    ...append(tool('other', 'words-of-an-agent'), finished(true)),
    ...append(tool('run', 'Bash', 'words of somebody'), finished(true, 5, 'words of somebody')),
    ...asked({ requestModel: 'Some words of somebody' }),
    ...append(completed),
  ]
  expect(spans.map(({ name }) => name)).toEqual([
    'execute_tool other',
    'execute_tool Bash',
    'chat',
    'invoke_agent claude',
  ])
  expect(JSON.stringify(spans)).not.toContain('words')
})

test('a command, a turn that another process began and what is over have no spans', () => {
  const { append, call: asked, end } = runner()
  expect(append(agentStarted, tool('run', 'Bash'), finished(true), completed)).toEqual([])
  append(started)
  expect(append(completed)).toEqual([])
  append(agentStarted)
  expect(asked()).toHaveLength(1)
  expect(end()).toEqual([])
  expect(asked()).toEqual([])
  expect(append(completed)).toEqual([])
})
