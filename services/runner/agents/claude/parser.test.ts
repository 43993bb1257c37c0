import { readdirSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createClaudeParser } from './parser.ts'
import type { AgentEvent } from '../port.ts'

/** The output of the real CLI, one scenario per file. */
const folder = new URL('../../../../tests/data/claude/', import.meta.url)
const scenarios = readdirSync(folder).filter((file) => file.endsWith('.jsonl'))
const sample = (scenario: string) => readFileSync(new URL(`${scenario}.jsonl`, folder), 'utf8')

function parse(text: string, chunk = text.length): readonly AgentEvent[] {
  const parser = createClaudeParser()
  const events: AgentEvent[] = []
  for (let at = 0; at < text.length; at += chunk) events.push(...parser.push(text.slice(at, at + chunk)))
  return [...events, ...parser.end()]
}

/** What happened, in short. */
function told(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      // A test of its own is about the context.
      case 'context':
        return []
      case 'mcp_servers':
        return `mcp: ${event.servers.map(({ name, isConnected }) => `${name} ${isConnected}`).join(', ')}`
      case 'text':
      case 'thinking':
        return `${event.type}${event.cut ? ' (cut)' : ''}: ${event.text}`
      case 'text_delta':
      case 'thinking_delta':
      case 'notice':
      case 'subagent_words':
        return `${event.type}: ${event.text}`
      case 'tool_started':
        return `${event.kind} ${event.name}: ${event.target}`
      case 'tool_finished':
        return `${event.ok ? 'ok' : 'failed'}: ${event.summary}`
      case 'usage':
        return `used ${event.inputTokens} in, ${event.outputTokens} out, $${event.costUsd.toFixed(4)}`
      case 'error':
        return `error ${event.code}${event.httpStatus === null ? '' : ` ${event.httpStatus}`}`
      case 'end':
        return event.ok ? 'end' : 'failed end'
      case 'taken_up':
        return `took up ${event.messageIds.join(', ')}`
      case 'question':
        return `asks: ${event.asked.map(({ title }) => title).join(', ')}`
      case 'compacted':
      case 'question_withdrawn':
      case 'write':
      case 'models':
      case 'session':
      case 'unasked':
      case 'text_restarted':
      case 'unknown':
        return event.type
    }
  })
}

describe('what the CLI printed', () => {
  test('a task with an edit, as it is written', () => {
    expect(told(parse(sample('edit-partial')))).toEqual([
      'session',
      ...['I ', 'will ', 'write ', 'the ', 'file.'].map((word) => `text_delta: ${word}`),
      'text: I will write the file.',
      'edit Write: /workspace',
      'ok: +2 −0',
      'edit Edit: /workspace',
      'ok: +1 −1',
      'run Bash: cat notes.txt && git status --short',
      'ok: exit code 0',
      ...['Done: ', 'notes.txt ', 'now ', 'holds ', 'alpha ', 'and ', 'gamma.'].map(
        (word) => `text_delta: ${word}`,
      ),
      'text: Done: notes.txt now holds alpha and gamma.',
      'used 50709 in, 157 out, $0.2060',
      'end',
    ])
  })

  test('thoughts before words', () => {
    expect(told(parse(sample('think-partial')))).toEqual([
      'session',
      'thinking_delta: Let me think about it.',
      'thinking: Let me think about it.',
      'text_delta: Thought ',
      'text_delta: about ',
      'text_delta: it.',
      'text: Thought about it.',
      'used 12514 in, 32 out, $0.0507',
      'end',
    ])
  })

  test('two turns of one process, each with its own usage', () => {
    expect(told(parse(sample('in-multi')))).toEqual([
      'session',
      'text: Hello from the stand-in.',
      'used 12518 in, 13 out, $0.0503',
      'end',
      'session',
      'run Bash: echo hi',
      'ok: exit code 0',
      'text: Done.',
      'used 25168 in, 40 out, $0.1015',
      'end',
    ])
  })

  test('usage of a turn from an older version, which says only the sum', () => {
    const older = sample('in-multi').replaceAll('model_usage_since_last_result', 'left_out')
    const used = parse(older).filter((event) => event.type === 'usage')
    expect(used.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
      [12_518, 13],
      [25_168, 40],
    ])
    expect(used[1]?.costUsd).toBeCloseTo(0.151804 - 0.050332, 9)
  })

  test.each([
    [
      'in-interrupt',
      ['session', 'text (cut): word word ', 'used 12518 in, 3 out, $0.0501', 'error aborted', 'failed end'],
    ],
    [
      'in-interrupt-bash',
      [
        'session',
        'run Bash: perl -e "sleep 4777"',
        'failed: Interrupted.',
        'used 12523 in, 36 out, $0.0508',
        'error aborted',
        'failed end',
      ],
    ],
    [
      'err529',
      [
        'session',
        "notice: The model's API answers 529. Trying again in 1 s (1 of 2).",
        "notice: The model's API answers 529. Trying again in 1 s (2 of 2).",
        'error overloaded 529',
        'failed end',
      ],
    ],
    ['badmodel', ['session', 'error bad_model 404', 'failed end']],
    ['resume-unknown', ['error unknown_session', 'failed end']],
    ['SIGTERM-bash-group', ['session', 'run Bash: perl -e "sleep 4491"', 'failed: exit code 137']],
  ])('%s', (scenario, expected) => {
    expect(told(parse(sample(scenario)))).toEqual(expected)
  })

  test.each([
    ['err401', 'unauthorized'],
    ['err429', 'rate_limited'],
    ['err500', 'api_error'],
    ['cut', 'api_error'],
    ['refuse', 'api_error'],
    ['budget', 'budget'],
    ['maxturns', 'max_turns'],
    ['SIGINT-bash-group', 'aborted'],
    ['SIGINT-stream-group', 'aborted'],
  ])('%s ends as %s, though its subtype may say success', (scenario, code) => {
    const events = parse(sample(scenario))
    expect(events.at(-2)).toMatchObject({ type: 'error', code })
    expect(events.at(-1)).toMatchObject({ type: 'end', ok: false })
  })

  test.each(['flaky', 'maxtokens', 'default-mode', 'hostile-default', 'in-mid', 'bg-tool'])(
    '%s ends well',
    (scenario) => {
      expect(parse(sample(scenario)).at(-1)).toMatchObject({ type: 'end', ok: true })
    },
  )

  test.each(scenarios)('%s holds nothing that is not understood', (file) => {
    expect(parse(sample(file.replace('.jsonl', ''))).filter((event) => event.type === 'unknown')).toEqual([])
  })
})

describe('however it is cut', () => {
  test.each(scenarios)('%s says the same', (file) => {
    const text = sample(file.replace('.jsonl', ''))
    const whole = parse(text)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), (chunk) => {
        expect(parse(text, chunk)).toEqual(whole)
      }),
      { numRuns: 10 },
    )
  })

  test('what began also ends, wherever the stream breaks off', () => {
    const texts = scenarios.map((file) => sample(file.replace('.jsonl', '')))
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.double({ min: 0, max: 1, noNaN: true }), (text, share) => {
        const events = parse(text.slice(0, Math.floor(text.length * share)))
        const started = events.filter((event) => event.type === 'tool_started').map((event) => event.toolId)
        const finished = events.filter((event) => event.type === 'tool_finished').map((event) => event.toolId)
        expect(finished.toSorted()).toEqual(started.toSorted())
        const written = new Set(
          events.filter((event) => event.type === 'text_delta').map((event) => event.messageKey),
        )
        const whole = events.filter((event) => event.type === 'text').map((event) => event.messageKey)
        expect(new Set(whole).size).toBe(whole.length)
        for (const key of written) expect(whole).toContain(key)
      }),
      { numRuns: 300 },
    )
  })
})

describe('what is not as it should be', () => {
  test('a line that is no JSON is passed on as unknown, and the next is read', () => {
    const events = parse(`Segmentation fault\n{"type":"system"\n\n[1]\n${sample('resume-unknown')}`)
    expect(told(events)).toEqual(['unknown', 'unknown', 'unknown', 'error unknown_session', 'failed end'])
    expect(events[0]).toEqual({ type: 'unknown', line: 'Segmentation fault' })
  })

  test('a kind of line that is new is unknown, one that says nothing is passed over', () => {
    const lines = [
      '{"type":"telepathy"}',
      '{"type":"keep_alive"}',
      '{"type":"system","subtype":"new_kind"}',
      '',
    ]
    expect(told(parse(lines.join('\r\n')))).toEqual(['unknown'])
  })

  test('a line of 10 MB is read', () => {
    const text = 'x'.repeat(10 * 1024 * 1024)
    const line = { type: 'assistant', message: { id: 'm', content: [{ type: 'text', text }] } }
    expect(parse(JSON.stringify(line), 65_536)).toEqual([
      { type: 'text', messageKey: 'm/whole-0', text, cut: false },
    ])
  })

  test('a line beyond the limit is kept short, and the next is read', () => {
    const parser = createClaudeParser(5000)
    const events = [...parser.push(`{"type":"${'y'.repeat(20_000)}`), ...parser.push(`${'y'.repeat(9)}"}\n`)]
    events.push(...parser.push(sample('resume-unknown')), ...parser.end())
    expect(told(events)).toEqual(['unknown', 'error unknown_session', 'failed end'])
    expect(events[0]).toMatchObject({ line: expect.stringMatching(/^.{1000}$/) })
  })

  test('what a tool was given and gave back is bounded', () => {
    const input = {
      file_path: '/workspace/a.txt',
      content: '🚀'.repeat(100_000),
      edits: Array(2000).fill('z'.repeat(50)),
    }
    const use = {
      type: 'assistant',
      message: { id: 'm', content: [{ type: 'tool_use', id: 't', name: 'Write', input }] },
    }
    const result = {
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: '🚀'.repeat(100_000) }] },
    }
    const [started, finished] = parse(`${JSON.stringify(use)}\n${JSON.stringify(result)}\n`)
    if (started?.type !== 'tool_started' || finished?.type !== 'tool_finished') throw new Error('No tool.')
    expect(started.target).toBe('a.txt')
    expect(started.input.length).toBeLessThanOrEqual(16 * 1024)
    expect(() => JSON.parse(started.input)).not.toThrow()
    expect(finished.output.length).toBeLessThanOrEqual(64 * 1024)
    expect(Buffer.from(finished.output).toString()).toBe(finished.output)
  })
})

test('what a sub-agent says is never a text of the agent, what it does is told under its parent', () => {
  const lines = [
    {
      type: 'assistant',
      parent_tool_use_id: 'task',
      message: {
        id: 'm',
        content: [
          { type: 'text', text: 'psst' },
          { type: 'text', text: '\n' },
          { type: 'thinking', thinking: 'hm' },
        ],
      },
    },
    {
      type: 'assistant',
      parent_tool_use_id: 'task',
      message: { id: 'm', content: [{ type: 'tool_use', id: 't', name: 'Grep', input: { pattern: 'x+' } }] },
    },
    {
      type: 'stream_event',
      parent_tool_use_id: 'task',
      event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'psst' } },
    },
  ]
  expect(parse(lines.map((line) => JSON.stringify(line)).join('\n'))).toMatchObject([
    { type: 'subagent_words', parentToolId: 'task', isThought: false, text: 'psst' },
    { type: 'subagent_words', parentToolId: 'task', isThought: true, text: 'hm' },
    { type: 'tool_started', parentToolId: 'task', kind: 'search', target: 'x+' },
    { type: 'tool_finished', ok: false },
  ])
})

const linesOf = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** A tool call and what it gave back, as the CLI prints them. */
function toolLines(name: string, content: unknown, details?: unknown) {
  return linesOf([
    { type: 'assistant', message: { id: 'm', content: [{ type: 'tool_use', id: 't', name, input: {} }] } },
    {
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content }] },
      tool_use_result: details,
    },
  ])
}

describe('agents D4: the report of a sub-agent is shown without what the CLI wraps it in', () => {
  const framed =
    '<tools-used-before-summary>Bash</tools-used-before-summary>\n[Subagent hand-back] The text below is the final report of a subagent this session delegated to. The report follows:\n  All is well.\n\n  Two files.\nagentId: ade5 (use SendMessage with to: ade5)\n<usage>subagent_tokens: 2721</usage>'
  const details = {
    status: 'completed',
    agentId: 'ade5',
    content: [{ type: 'text', text: 'All is well.\n\nTwo files.' }],
  }

  // Holds findings 1.138.
  test.each([
    ['it is told apart', details],
    ['it is not', undefined],
  ])('agents D4: where %s from the frame', (_, told) => {
    const [, finished] = parse(toolLines('Task', [{ type: 'text', text: framed }], told))
    expect(finished).toMatchObject({ summary: 'All is well.', output: 'All is well.\n\nTwo files.' })
  })
})

// Holds findings 1.140.
test('agents D5: only an image is shown as one; any other block by its name or its kind', () => {
  const content = [
    { type: 'tool_reference', tool_name: 'WebFetch' },
    { type: 'image', source: { type: 'base64', data: 'x' } },
    { type: 'document', source: {} },
  ]
  const [, finished] = parse(toolLines('ToolSearch', content))
  expect(finished).toMatchObject({ output: 'WebFetch\n[image]\n[document]' })
})

describe('agents D6: a text that broke off and was asked for again is one message', () => {
  const stream = (event: object) => ({ type: 'stream_event', parent_tool_use_id: null, event })
  const begin = (id: string) => [
    stream({ type: 'message_start', message: { id } }),
    stream({ type: 'content_block_start', index: 0, content_block: { type: 'text' } }),
  ]
  const word = (text: string) =>
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  const retry = { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 6, retry_delay_ms: 500 }
  const whole = (id: string, text: string) => ({
    type: 'assistant',
    message: { id, content: [{ type: 'text', text }] },
  })
  const result = { type: 'result', subtype: 'success', is_error: false }
  const cut = (id: string) => [
    ...begin(id),
    word('This text is '),
    word('cut '),
    stream({ type: 'message_stop' }),
    retry,
  ]
  const textsIn = (lines: readonly object[]) =>
    parse(linesOf(lines)).flatMap((event) =>
      event.type === 'text' ? [{ key: event.messageKey, text: event.text, cut: event.cut }] : [],
    )

  // Holds findings 1.141.
  test('agents D6: the answer to the last retry takes its place', () => {
    const lines = [
      ...cut('a'),
      ...cut('b'),
      ...cut('c'),
      ...begin('d'),
      word('Whole.'),
      whole('d', 'Whole.'),
      result,
    ]
    expect(textsIn(lines)).toEqual([{ key: 'a/0', text: 'Whole.', cut: false }])
    const events = parse(linesOf(lines))
    expect(events.filter(({ type }) => type === 'text_restarted').length).toBe(3)
    expect(
      new Set(events.flatMap((event) => (event.type === 'text_delta' ? [event.messageKey] : []))),
    ).toEqual(new Set(['a/0']))
  })

  test('agents D6: also where the answer is not streamed any more', () => {
    expect(textsIn([...cut('a'), ...cut('b'), whole('c', 'Whole.'), result])).toEqual([
      { key: 'a/0', text: 'Whole.', cut: false },
    ])
  })

  test('agents D6: where no retry succeeds it is there once, as far as it came', () => {
    expect(textsIn([...cut('a'), ...cut('b'), { ...result, is_error: true }])).toEqual([
      { key: 'a/0', text: 'This text is cut ', cut: true },
    ])
  })

  test('agents D6: where the answer to the retry has no text it stays, cut', () => {
    const use = {
      type: 'assistant',
      message: { id: 'b', content: [{ type: 'tool_use', id: 't', name: 'Read', input: {} }] },
    }
    const lines = [
      ...cut('a'),
      stream({ type: 'message_start', message: { id: 'b' } }),
      use,
      ...begin('c'),
      word('On.'),
      whole('c', 'On.'),
      result,
    ]
    expect(textsIn(lines)).toEqual([
      { key: 'a/0', text: 'This text is cut ', cut: true },
      { key: 'c/0', text: 'On.', cut: false },
    ])
  })
})

test('agents D7: what the CLI prints again after a compaction is not told again', () => {
  const answer = (uuid: string, text: string) => ({
    type: 'assistant',
    uuid,
    message: { id: uuid, model: '<synthetic>', content: [{ type: 'text', text }] },
  })
  const result = { type: 'result', subtype: 'success', is_error: false }
  const events = parse(
    linesOf([
      answer('a', '## Context Usage'),
      result,
      { type: 'system', subtype: 'compact_boundary', uuid: 'x', compact_metadata: { trigger: 'manual' } },
      { type: 'user', message: { content: 'This session is being continued' } },
      answer('b', '## Context Usage'),
      result,
      answer('c', '## Context Usage'),
      result,
    ]),
  )
  expect(told(events).filter((line) => line.startsWith('text'))).toEqual([
    'text: ## Context Usage',
    'text: The conversation so far was summarized.',
    'text: ## Context Usage',
  ])
})

describe('agents D1: what a result is for', () => {
  const mine = 'aaaaaaaa-1111-4111-8111-111111111111'
  const lifecycle = (command_uuid: string, state: string) => ({
    type: 'command_lifecycle',
    command_uuid,
    state,
  })
  const init = { type: 'system', subtype: 'init', session_id: 's' }
  const result = { type: 'result', subtype: 'success', is_error: false }

  test('agents D1: a wake-up is told as unasked, and its end answers no message', () => {
    const events = parse(
      linesOf([
        lifecycle('its-own', 'started'),
        init,
        lifecycle(mine, 'queued'),
        result,
        lifecycle('its-own', 'completed'),
        lifecycle(mine, 'started'),
        { ...init, user_message_uuids: [mine] },
        { ...result, user_message_uuids: [mine] },
        lifecycle(mine, 'completed'),
      ]),
    )
    expect(events).toMatchObject([
      { type: 'taken_up', messageIds: ['its-own'] },
      { type: 'unasked' },
      { type: 'session' },
      { type: 'end', answers: [] },
      { type: 'taken_up', messageIds: [mine] },
      { type: 'session' },
      { type: 'end', answers: [mine] },
    ])
  })

  test('agents D1: of a version that does not say, a result is for whatever was sent', () => {
    const [session, end] = parse(linesOf([init, result]))
    expect(session).toMatchObject({ type: 'session' })
    expect(end).not.toHaveProperty('answers')
  })
})

describe('a list of models', () => {
  const list = (value: string) => ({
    type: 'control_response',
    response: {
      subtype: 'success',
      request_id: 'list_models',
      response: {
        models: [{ value, displayName: value, description: '', supportedEffortLevels: [] }],
      },
    },
  })
  const models = (...lines: readonly object[]) =>
    parse(linesOf(lines)).flatMap((event) =>
      event.type === 'models' ? [event.models.map(({ name }) => name)] : [],
    )

  test('counts once', () => expect(models(list('opus'), list('forged'))).toEqual([['opus']]))

  test('no longer counts once the model has said something, as programs may run then', () => {
    const said = { type: 'assistant', message: { id: 'a', content: [{ type: 'text', text: 'Hello' }] } }
    expect(models({ ...said, parent_tool_use_id: null }, list('forged'))).toEqual([])
    const begun = { type: 'stream_event', event: { type: 'message_start', message: { id: 'a' } } }
    expect(models({ ...begun, parent_tool_use_id: null }, list('forged'))).toEqual([])
  })
})

test('a form that cannot be shown is refused, and the person is told', () => {
  const properties = { colours: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } } }
  const request = {
    subtype: 'elicitation',
    mcp_server_name: 'forms',
    message: 'Which?',
    requested_schema: { type: 'object', properties },
  }
  const line = JSON.stringify({ type: 'control_request', request_id: 'r', request })
  expect(parse(`${line}\n`)).toEqual([
    { type: 'write', text: expect.stringContaining('"request_id":"r"') },
    { type: 'notice', text: 'forms asked with a form that cannot be shown here. It was refused.' },
  ])
})
