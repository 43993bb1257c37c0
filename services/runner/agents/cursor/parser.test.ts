/** The lines in these tests follow the documented format; they were not printed by cursor-agent. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCursorParser } from './parser.ts'
import type { AgentEvent } from '../port.ts'

const session_id = 'c6b62c6f-7ead-4fd6-9922-e952131177ff'
const init = {
  type: 'system',
  subtype: 'init',
  apiKeySource: 'env',
  cwd: '/workspace',
  session_id,
  model: 'Auto',
  permissionMode: 'default',
}
const echo = {
  type: 'user',
  message: { role: 'user', content: [{ type: 'text', text: 'Do it' }] },
  session_id,
}
const assistant = (text: string, more: object) => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
  session_id,
  ...more,
})
const piece = (text: string) => assistant(text, { timestamp_ms: 1_770_823_449_274 })
const flush = (text: string) => assistant(text, { model_call_id: 'm-1', timestamp_ms: 1_770_823_449_280 })
const lastFlush = (text: string) => assistant(text, {})
const thought = (text: string) => ({ type: 'thinking', subtype: 'delta', text, session_id, timestamp_ms: 1 })
const thoughtEnds = { type: 'thinking', subtype: 'completed', session_id, timestamp_ms: 2 }
const tool = (subtype: 'started' | 'completed', call_id: string, tool_call: object) => ({
  type: 'tool_call',
  subtype,
  call_id,
  tool_call,
  model_call_id: 'm-1',
  session_id,
  timestamp_ms: 3,
})
const result = {
  type: 'result',
  subtype: 'success',
  duration_ms: 4_986,
  duration_api_ms: 4_986,
  is_error: false,
  result: 'I look.Done.',
  session_id,
  request_id: 'r',
  usage: { inputTokens: 10, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 0 },
}

const read = { readToolCall: { args: { path: '/workspace/README.md' } } }
const readDone = {
  readToolCall: { args: { path: '/workspace/README.md' }, result: { success: { content: '# Widget\n' } } },
}
const edit = { args: { path: '/workspace/src/a.ts' } }
const edited = { linesAdded: 3, linesRemoved: 1, diffString: '@@ -1 +1,3 @@\n-a\n+b\n+c\n+d' }
const shell = { args: { command: 'npm test', workingDirectory: '', timeout: 30_000 } }
const failed = { exitCode: 2, stdout: 'one\n', stderr: 'two\n', executionTime: 5 }

/** A whole task, with partial output: every text comes in pieces and once more as a whole. */
const task: readonly object[] = [
  init,
  echo,
  thought('Let me '),
  thought('see.'),
  thoughtEnds,
  piece('I '),
  piece('look.'),
  flush('I look.'),
  tool('started', 'call_1\nfc_1', read),
  tool('completed', 'call_1\nfc_1', readDone),
  tool('started', 'call_2', { editToolCall: edit, description: 'beside it' }),
  tool('started', 'call_3', { hint: 'beside it', shellToolCall: shell }),
  tool('completed', 'call_3', {
    shellToolCall: { ...shell, result: { failure: failed, isBackground: false } },
  }),
  tool('completed', 'call_2', { editToolCall: { ...edit, result: { success: edited } } }),
  piece('Done'),
  piece('.'),
  lastFlush('Done.'),
  result,
]

const printed = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

function parse(text: string, chunk = text.length): readonly AgentEvent[] {
  const parser = createCursorParser()
  const events: AgentEvent[] = []
  for (let at = 0; at < text.length; at += chunk) events.push(...parser.push(text.slice(at, at + chunk)))
  return [...events, ...parser.end()]
}
const heard = (...lines: readonly object[]) => parse(printed(lines))
const texts = (events: readonly AgentEvent[]) =>
  events.filter((event) => event.type === 'text').map((event) => event.text)

describe('a task', () => {
  const events = parse(printed(task))

  // Shows cursor: streaming, thinking.
  test('is told in the words that every agent has', () => {
    expect(events.map((event) => event.type)).toEqual([
      'session',
      'thinking_delta',
      'thinking_delta',
      'thinking',
      'text_delta',
      'text_delta',
      'text',
      'tool_started',
      'tool_finished',
      'tool_started',
      'tool_started',
      'tool_finished',
      'tool_finished',
      'text_delta',
      'text_delta',
      'text',
      'usage',
      'end',
    ])
    expect(events[0]).toEqual({ type: 'session', sessionId: session_id, model: 'Auto' })
    expect(events.at(-2)).toMatchObject({ model: 'Auto', inputTokens: 10, outputTokens: 20 })
    expect(events.at(-1)).toEqual({
      type: 'end',
      ok: true,
      sessionId: session_id,
      durationMs: 4_986,
      turns: 1,
    })
  })

  test('says each text once, under the key of its pieces', () => {
    expect(texts(events)).toEqual(['I look.', 'Done.'])
    const [first] = events.filter((event) => event.type === 'text')
    const pieces = events.filter((event) => event.type === 'text_delta')
    expect(pieces.map(({ messageKey }) => messageKey === first?.messageKey)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  test('tells what its tools work on and what came of them', () => {
    const tools = events.filter((event) => event.type === 'tool_started' || event.type === 'tool_finished')
    expect(tools).toMatchObject([
      { toolId: 'call_1/fc_1', kind: 'read', name: 'Read', target: 'README.md' },
      { toolId: 'call_1/fc_1', ok: true, summary: '', output: '# Widget\n' },
      { toolId: 'call_2', kind: 'edit', name: 'Edit', target: 'src/a.ts' },
      { toolId: 'call_3', kind: 'run', name: 'Shell', target: 'npm test' },
      { toolId: 'call_3', ok: false, exitCode: 2, summary: 'exit code 2', output: 'one\ntwo' },
      {
        toolId: 'call_2',
        ok: true,
        summary: '+3 −1',
        additions: 3,
        deletions: 1,
        output: edited.diffString,
      },
    ])
  })
})

describe('texts', () => {
  test('that come whole alone, as older versions print them, are said', () => {
    const events = heard(init, flush('I look.'), tool('started', 'c', read), lastFlush('Done.'), result)
    expect(texts(events)).toEqual(['I look.', 'Done.'])
  })

  test('that are said whole once more at the end, by themselves or as one, are not said again', () => {
    const once = [piece('I look.'), flush('I look.'), tool('started', 'c', read), piece('Done.')]
    expect(texts(heard(init, ...once, lastFlush('Done.'), lastFlush('Done.')))).toEqual(['I look.', 'Done.'])
    expect(texts(heard(init, ...once, lastFlush('I look.Done.')))).toEqual(['I look.', 'Done.'])
    expect(texts(heard(init, ...once, result, lastFlush('I look.Done.')))).toEqual(['I look.', 'Done.'])
  })

  test('of which a piece was lost are whole in the end', () => {
    expect(texts(heard(init, piece('I '), flush('I look.')))).toEqual(['I look.'])
  })

  test('that no whole follows end with the next thing that happens', () => {
    expect(heard(init, piece('I look.'), tool('started', 'c', read))[2]).toMatchObject({
      type: 'text',
      text: 'I look.',
      cut: false,
    })
  })
})

describe('tools', () => {
  const ofCall = (tool_call: object) => {
    const [, started, finished] = heard(init, tool('completed', 'c', tool_call))
    if (started?.type !== 'tool_started' || finished?.type !== 'tool_finished') throw new Error('No tool.')
    return { started, finished }
  }

  test.each([
    ['readToolCall', 'read', 'Read'],
    ['writeToolCall', 'edit', 'Write'],
    ['editToolCall', 'edit', 'Edit'],
    ['deleteToolCall', 'edit', 'Delete'],
    ['shellToolCall', 'run', 'Shell'],
    ['lsToolCall', 'search', 'LS'],
    ['globToolCall', 'search', 'Glob'],
    ['grepToolCall', 'search', 'Grep'],
    ['semSearchToolCall', 'search', 'SemSearch'],
    ['webSearchToolCall', 'fetch', 'WebSearch'],
    ['webFetchToolCall', 'fetch', 'WebFetch'],
    ['fetchToolCall', 'fetch', 'Fetch'],
    ['updateTodosToolCall', 'todo', 'UpdateTodos'],
    ['mcpToolCall', 'other', 'Mcp'],
    ['askQuestionToolCall', 'other', 'AskQuestion'],
    ['telepathyToolCall', 'other', 'Telepathy'],
  ])('%s is of the kind %s', (key, kind, name) => {
    expect(ofCall({ [key]: { args: {} } }).started).toMatchObject({ kind, name })
  })

  test('called as a function have their arguments as JSON', () => {
    const call = { function: { name: 'read_file', arguments: '{"path":"/workspace/a.txt"}' } }
    expect(ofCall(call).started).toMatchObject({ kind: 'read', name: 'read_file', target: 'a.txt' })
    expect(ofCall({ function: { name: 'x', arguments: 'no JSON' } }).started.target).toBe('')
  })

  test('that write a file tell its lines', () => {
    const call = {
      args: { path: '/workspace/a', fileText: 'one\ntwo\n' },
      result: { success: { path: 'a' } },
    }
    expect(ofCall({ writeToolCall: call }).finished).toMatchObject({ additions: 2, deletions: null })
  })

  test.each([
    [{ rejected: { reason: 'Not on the list.' } }, 'Not on the list.'],
    [{ permissionDenied: {} }, 'It is not permitted.'],
    [{ error: { errorMessage: 'No such file' } }, 'No such file'],
    [{ somethingNew: {} }, 'It failed.'],
    [{ error: 'A sentence.' }, 'A sentence.'],
  ])('that end as %j have failed with the reason', (end, summary) => {
    expect(ofCall({ readToolCall: { args: {}, result: end } }).finished).toMatchObject({ ok: false, summary })
  })

  test('a command that ends otherwise than with 0 has failed, under whatever name it is told', () => {
    const success = { exitCode: 1, stdout: '', stderr: 'no' }
    expect(ofCall({ shellToolCall: { args: {}, result: { success } } }).finished).toMatchObject({
      ok: false,
      exitCode: 1,
      output: 'no',
    })
  })

  test('are bounded in what they were given and gave back', () => {
    const text = '🚀'.repeat(100_000)
    const { started, finished } = ofCall({
      shellToolCall: {
        args: { command: text, more: Array(2000).fill('z'.repeat(50)) },
        result: { success: { exitCode: 0, stdout: text, stderr: '' } },
      },
    })
    expect(started.target.length).toBeLessThanOrEqual(2_000)
    expect(started.input.length).toBeLessThanOrEqual(16 * 1024)
    expect(finished.output.length).toBeLessThanOrEqual(64 * 1024)
    expect(Buffer.from(finished.output).toString()).toBe(finished.output)
  })
})

describe('however it is cut', () => {
  test('it says the same', () => {
    const text = printed(task)
    const whole = parse(text)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), (chunk) => {
        expect(parse(text, chunk)).toEqual(whole)
      }),
      { numRuns: 50 },
    )
  })

  test('what began also ends, wherever the stream breaks off', () => {
    const text = printed(task)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: text.length }), (length) => {
        const events = parse(text.slice(0, length))
        const started = events.filter((event) => event.type === 'tool_started').map((event) => event.toolId)
        const finished = events.filter((event) => event.type === 'tool_finished').map((event) => event.toolId)
        expect(finished.toSorted()).toEqual(started.toSorted())
        const written = events.filter((event) => event.type === 'text_delta').map((event) => event.messageKey)
        const whole = events.filter((event) => event.type === 'text').map((event) => event.messageKey)
        expect(new Set(whole).size).toBe(whole.length)
        for (const key of written) expect(whole).toContain(key)
      }),
      { numRuns: 300 },
    )
  })

  test('and whatever its lines say, each text and each tool ends once', () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const line = fc.oneof(
      fc.string({ maxLength: 3 }).map(piece),
      fc.string({ maxLength: 3 }).map(flush),
      fc.string({ maxLength: 3 }).map(lastFlush),
      fc.string({ maxLength: 3 }).map(thought),
      fc.constant(thoughtEnds),
      fc
        .tuple(fc.constantFrom('started' as const, 'completed' as const), id, fc.jsonValue())
        .map(([subtype, call, value]) => tool(subtype, call, { grepToolCall: value })),
      fc.constantFrom<object>(init, echo, result),
      fc.object(),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const events = heard(init, ...lines)
        const open = new Set<string>()
        const slips = events.filter(
          (event) =>
            (event.type === 'tool_started' && (open.has(event.toolId) || !open.add(event.toolId))) ||
            (event.type === 'tool_finished' && !open.delete(event.toolId)),
        )
        expect(slips).toEqual([])
        expect([...open]).toEqual([])
        const keys = events
          .filter((event) => event.type === 'text' || event.type === 'thinking')
          .map((event) => event.messageKey)
        expect(new Set(keys).size).toBe(keys.length)
      }),
      { numRuns: 300 },
    )
  })
})

test('what nobody understands is kept, and what follows is read', () => {
  const text = `⚠ Warning: something\n{"type":"telepathy"}\n{"type":"system","subtype":"new"}\n[1]\n${printed([result])}`
  const events = parse(text)
  expect(events.map((event) => event.type)).toEqual([
    'unknown',
    'unknown',
    'unknown',
    'unknown',
    'usage',
    'end',
  ])
  expect(events[0]).toEqual({ type: 'unknown', line: '⚠ Warning: something' })
})

test('a line beyond the limit is kept short, and the next is read', () => {
  const parser = createCursorParser(5_000)
  const events = [...parser.push(`{"type":"${'y'.repeat(20_000)}"}\n${printed([init])}`), ...parser.end()]
  expect(events).toMatchObject([
    { type: 'unknown', line: expect.stringMatching(/^.{1000}$/) },
    { type: 'session' },
  ])
})

test('a result that is an error ends the turn with its reason', () => {
  expect(
    heard(init, { ...result, usage: undefined, is_error: true, result: 'It went wrong.' }),
  ).toMatchObject([
    { type: 'session' },
    { type: 'error', code: 'other', message: 'It went wrong.' },
    { type: 'end', ok: false },
  ])
})
