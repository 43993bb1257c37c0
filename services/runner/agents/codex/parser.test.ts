import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AgentEvent } from '../port.ts'
import { createCodexParser } from './parser.ts'
import { commandOf } from './tools.ts'

/** What the real CLI printed, one scenario a file. */
const folder = new URL('../../../../tests/data/codex/', import.meta.url)
const sample = (scenario: string) => readFileSync(new URL(`${scenario}.jsonl`, folder), 'utf8')

function parse(text: string, chunk = text.length): readonly AgentEvent[] {
  let at = 0
  const parser = createCodexParser({ model: 'gpt-5', now: () => (at += 1_000) })
  const events: AgentEvent[] = []
  for (let from = 0; from < text.length; from += chunk)
    events.push(...parser.push(text.slice(from, from + chunk)))
  return [...events, ...parser.end()]
}

const ofType = <Type extends AgentEvent['type']>(events: readonly AgentEvent[], type: Type) =>
  events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type)

test('a command is told with its exit code and what it printed, between what the agent said', () => {
  const events = parse(sample('command'))
  expect(events.map(({ type }) => type)).toEqual([
    'session',
    'thinking',
    'text',
    'tool_started',
    'tool_finished',
    'text',
    'end',
  ])
  expect(events[0]).toMatchObject({ sessionId: '01a212ec-9261-7993-948f-8a3112a69f6a', model: 'gpt-5' })
  expect(ofType(events, 'tool_started')).toMatchObject([
    { kind: 'run', name: 'Shell', target: 'echo hi; ls -la; exit 3', parentToolId: null },
  ])
  expect(ofType(events, 'tool_finished')).toMatchObject([
    { ok: false, exitCode: 3, summary: 'exit code 3', output: expect.stringMatching(/^hi\ntotal 8/) },
  ])
  expect(events.at(-1)).toMatchObject({ ok: true, turns: 1, durationMs: expect.any(Number) })
})

test('edits are told by their paths in the workspace: a new file as written, another as edited', () => {
  const tools = ofType(parse(sample('edit')), 'tool_started')
  expect(tools.map(({ kind, name, target }) => [kind, name, target])).toEqual([
    ['edit', 'Write', 'new.txt'],
    ['edit', 'Edit', 'new.txt'],
    ['run', 'Shell', 'cat new.txt'],
  ])
})

test('the stream may be cut anywhere', () => {
  const withoutTimes = (events: readonly AgentEvent[]) =>
    events.map((event) => (event.type === 'end' ? { ...event, durationMs: 0 } : event))
  expect(withoutTimes(parse(sample('edit'), 7))).toEqual(withoutTimes(parse(sample('edit'))))
})

test('what was begun is ended when the agent is interrupted', () => {
  const events = parse(sample('interrupt'))
  expect(ofType(events, 'tool_finished')).toMatchObject([{ ok: false, summary: 'It did not finish.' }])
  expect(ofType(events, 'end')).toEqual([])
})

test('texts of two turns of a session have names of their own', () => {
  const keys = [...parse(sample('edit')), ...parse(sample('resume'))].flatMap((event) =>
    event.type === 'text' ? [event.messageKey] : [],
  )
  const parser = createCodexParser({ now: () => 99_000 })
  const later = parser
    .push(sample('resume'))
    .flatMap((event) => (event.type === 'text' ? [event.messageKey] : []))
  expect(keys).not.toContain(later[0])
})

describe('a fault is told in a sentence', () => {
  test.each([
    ['err401-invalid-api-key', 'unauthorized', /check OPENAI_API_KEY/],
    ['err404-model-not-found', 'bad_model', /The model x does not exist/],
    ['err400-model-not-found', 'bad_model', /does not exist/],
    ['err429-rate-limit-exceeded', 'rate_limited', /429/],
    ['err429-insufficient-quota', 'no_credit', /OPENAI_API_KEY/],
    ['err500-server-error', 'overloaded', /overloaded/],
    ['err503-x', 'overloaded', /overloaded/],
    ['err403-x', 'budget', /^This run has used up its budget\.$/],
  ])('%s is %s', (scenario, code, sentence) => {
    const events = parse(sample(scenario))
    expect(ofType(events, 'error')).toMatchObject([{ code, message: expect.stringMatching(sentence) }])
    expect(JSON.stringify(events)).not.toContain('127.0.0.1')
    expect(events.at(-1)).toMatchObject({ type: 'end', ok: false })
  })

  test('and each retry before it as a notice', () => {
    const notices = ofType(parse(sample('err503-x')), 'notice').map(({ text }) => text)
    expect(notices).toEqual([
      'unexpected status 503 Service Unavailable: overloaded Trying again (1 of 2).',
      'unexpected status 503 Service Unavailable: overloaded Trying again (2 of 2).',
    ])
  })
})

test('a line that nobody understands is told, cut', () => {
  expect(parse('{"type":"new"}\nnot json\n')).toEqual([
    { type: 'unknown', line: '{"type":"new"}' },
    { type: 'unknown', line: 'not json' },
  ])
})

test.each([
  ["/bin/bash -lc 'echo hi; exit 3'", 'echo hi; exit 3'],
  ['/bin/bash -lc ls', 'ls'],
  [`/usr/bin/zsh -lc "echo 'it'; echo \\"two\\""`, `echo 'it'; echo "two"`],
  [`/bin/sh -c 'it'"'"'s'`, "it's"],
  ['/bin/bash -lc ls -la', '/bin/bash -lc ls -la'],
  ['make', 'make'],
])('%s runs %s', (command, inner) => {
  expect(commandOf(command)).toBe(inner)
})
