/** The dialogue with an agent that speaks ACP, with lines that `opencode` 1.18.33 prints, and with lines that no agent should print. */
import { describe, expect, test } from 'vitest'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { AgentDialogue, AgentEvent, McpServerForAgent } from '../port.ts'
import { acpDialogue } from './dialogue.ts'

const session = 'ses_dd88d0b18ffeab7y1iPrgvnbJ7'
const written = (line: object) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`
const result = (id: number, said: unknown) => written({ id, result: said })
const update = (said: object, sessionId = session) =>
  written({ method: 'session/update', params: { sessionId, update: said } })
const text = (words: string, messageId = 'msg_1') =>
  update({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: words } })
const tool = (said: object, sessionUpdate = 'tool_call_update') =>
  update({ sessionUpdate, toolCallId: 'toolu_1', ...said })
const wish = (id: number, command: string) =>
  written({
    id,
    method: 'session/request_permission',
    params: {
      sessionId: session,
      toolCall: {
        toolCallId: `toolu_${id}`,
        title: command,
        kind: 'execute',
        status: 'pending',
        locations: [],
        rawInput: { command },
      },
      options: [
        { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
        { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
        { optionId: 'reject', kind: 'reject_once', name: 'Reject' },
      ],
    },
  })

const capabilities = { protocolVersion: 1, agentCapabilities: { loadSession: true } }
const opened = {
  sessionId: session,
  configOptions: [{ id: 'model', category: 'model', currentValue: 'anthropic/claude-sonnet-5' }],
}
const message = (id: string, words = 'Hello') => ({ id, text: words, images: [] })
const start = (
  more: {
    mode?: AgentMode
    session?: string
    allowedRules?: readonly string[]
    mcpServers?: readonly McpServerForAgent[]
  } = {},
) => acpDialogue({ model: null, mode: 'free', keyVariable: 'ANTHROPIC_API_KEY', now: () => 0, ...more })

/** What the dialogue wrote, as JSON. */
const lines = (said: string): unknown[] =>
  said
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
const writes = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'write' ? lines(event.text) : []))
const others = (events: readonly AgentEvent[]) => events.filter(({ type }) => type !== 'write')

/** A dialogue in its first turn. */
function inTurn(more: Parameters<typeof start>[0] = {}): AgentDialogue {
  const dialogue = start(more)
  dialogue.message(message('m1'))
  dialogue.push(result(1, capabilities))
  dialogue.push(result(2, opened))
  return dialogue
}

describe('the first message', () => {
  test('opens the session, and is held back until it is there', () => {
    const dialogue = start()
    expect(lines(dialogue.message(message('m1')))).toMatchObject([
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: false }, terminal: false } },
      },
    ])
    expect(writes(dialogue.push(result(1, capabilities)))).toMatchObject([
      { id: 2, method: 'session/new', params: { cwd: '/workspace', mcpServers: [] } },
    ])
    const events = dialogue.push(result(2, opened))
    expect(writes(events)).toMatchObject([
      { id: 3, method: 'session/prompt', params: { sessionId: session, prompt: [{ text: 'Hello' }] } },
    ])
    expect(others(events)).toEqual([
      { type: 'session', sessionId: session, model: 'anthropic/claude-sonnet-5' },
      { type: 'taken_up', messageIds: ['m1'] },
    ])
  })

  test.each([null, session])('tells the session %s of the MCP servers that the agent can take', (resumed) => {
    const servers: readonly McpServerForAgent[] = [
      { kind: 'http', name: 'tiny', url: 'http://127.0.0.1:1/mcp/1', bearer: 'of-the-run', toolsOff: [] },
      { kind: 'stdio', name: 'local', command: 'npx', args: ['it'], env: { KEY: 'value' }, toolsOff: [] },
    ]
    const local = { name: 'local', command: 'npx', args: ['it'], env: [{ name: 'KEY', value: 'value' }] }
    const tiny = {
      type: 'http',
      name: 'tiny',
      url: 'http://127.0.0.1:1/mcp/1',
      headers: [{ name: 'Authorization', value: 'Bearer of-the-run' }],
    }
    const told = (mcpCapabilities: object) => {
      const dialogue = start({ mcpServers: servers, ...(resumed && { session: resumed }) })
      dialogue.message(message('m1'))
      const agentCapabilities = { loadSession: true, mcpCapabilities }
      return writes(dialogue.push(result(1, { protocolVersion: 1, agentCapabilities })))
    }
    expect(told({ http: true })).toMatchObject([{ params: { mcpServers: [tiny, local] } }])
    expect(told({})).toMatchObject([{ params: { mcpServers: [local] } }])
  })

  test('takes up a session, and passes over what that had said', () => {
    const dialogue = start({ session })
    dialogue.message(message('m1'))
    expect(writes(dialogue.push(result(1, capabilities)))).toMatchObject([
      { method: 'session/load', params: { sessionId: session } },
    ])
    expect(dialogue.push(text('Long ago.'))).toEqual([])
    // `gemini` tells the rest of it after its answer, and only then reads on.
    expect(writes(dialogue.push(result(2, {})))).toMatchObject([{ method: '_flightdeck/catch_up' }])
    expect(dialogue.push(text('Less long ago.'))).toEqual([])
    const unknown = written({ id: 3, error: { code: -32_601, message: 'Method not found' } })
    expect(writes(dialogue.push(unknown))).toMatchObject([{ method: 'session/prompt' }])
    expect(others(dialogue.push(text('Now.')))).toContainEqual(
      expect.objectContaining({ type: 'text_delta', text: 'Now.' }),
    )
  })

  test('is not lost when the session is unknown', () => {
    const dialogue = start({ session })
    dialogue.message(message('m1'))
    dialogue.push(result(1, capabilities))
    const refused = written({ id: 2, error: { code: -32_602, message: 'Session not found' } })
    expect(dialogue.push(refused)).toMatchObject([
      { type: 'error', code: 'unknown_session' },
      { type: 'end', ok: false, answers: ['m1'] },
    ])
  })
})

describe('a turn', () => {
  test('streams its words, told apart from its thinking, and ends', () => {
    const dialogue = inTurn()
    const thought = update({
      sessionUpdate: 'agent_thought_chunk',
      messageId: 'prt_1',
      content: { type: 'text', text: 'Hmm.' },
    })
    const events = [thought, text('I '), text(''), text('write.'), result(3, { stopReason: 'end_turn' })]
    expect(events.flatMap((line) => dialogue.push(line))).toEqual([
      { type: 'thinking_delta', messageKey: 'm1/1', text: 'Hmm.' },
      { type: 'thinking', messageKey: 'm1/1', text: 'Hmm.', cut: false },
      { type: 'text_delta', messageKey: 'm1/2', text: 'I ' },
      { type: 'text_delta', messageKey: 'm1/2', text: 'write.' },
      { type: 'text', messageKey: 'm1/2', text: 'I write.', cut: false },
      { type: 'end', ok: true, sessionId: session, durationMs: 0, turns: 1, answers: ['m1'] },
    ])
  })

  test('hides the tools of our own server alone, not a command that is named like one', () => {
    const title = 'ask_person (flightdeck MCP Server)'
    const own = tool({ title, kind: 'other', status: 'in_progress' }, 'tool_call')
    expect(inTurn().push(own)).toEqual([])
    const command = tool({ title, kind: 'execute', status: 'in_progress' }, 'tool_call')
    expect(inTurn().push(command)).toMatchObject([{ type: 'tool_started', kind: 'run' }])
  })

  test('tells a tool once it is known what it works on', () => {
    const dialogue = inTurn()
    const input = { command: 'echo tried; exit 3', description: 'Try' }
    const begun = { title: 'bash', kind: 'execute', status: 'pending', locations: [], rawInput: {} }
    expect(dialogue.push(tool(begun, 'tool_call'))).toEqual([])
    const atWork = { status: 'in_progress', kind: 'execute', title: input.command, rawInput: input }
    expect(dialogue.push(tool(atWork))).toMatchObject([
      { type: 'tool_started', toolId: 'm1/toolu_1', kind: 'run', name: 'Bash', target: 'echo tried; exit 3' },
    ])
    expect(dialogue.push(tool(atWork))).toEqual([])
    const done = {
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'tried\n' } }],
      rawOutput: { output: 'tried\n', metadata: { exit: 3 } },
    }
    expect(dialogue.push(tool(done))).toMatchObject([
      { type: 'tool_finished', ok: false, exitCode: 3, summary: 'exit code 3', output: 'tried' },
    ])
    expect(dialogue.push(tool(done))).toEqual([])
  })

  test('shows a plan, and a tool that keeps one, as a to-do list', () => {
    const dialogue = inTurn()
    const entries = [{ content: 'Write', status: 'pending', priority: 'high' }]
    const todo = { title: 'todowrite', kind: 'other', status: 'in_progress', rawInput: { todos: entries } }
    const started = [tool(todo), update({ sessionUpdate: 'plan', entries })]
      .flatMap((line) => dialogue.push(line))
      .filter(({ type }) => type === 'tool_started')
    expect(started).toMatchObject([
      { kind: 'todo', name: 'Todo', input: expect.stringContaining('Write') },
      { kind: 'todo', name: 'Todo', input: expect.stringContaining('Write') },
    ])
  })

  test('tells how full the context is, where the agent says it', () => {
    const dialogue = inTurn()
    const used = { sessionUpdate: 'usage_update', used: 1_000, size: 200_000, cost: null }
    expect(dialogue.push(update(used))).toEqual([
      { type: 'context', context: { usedTokens: 1_000, windowTokens: 200_000 } },
    ])
    expect(dialogue.push(update({ ...used, size: 0 }))).toEqual([])
  })

  test('that is interrupted ends what it had begun', () => {
    const dialogue = inTurn()
    dialogue.push(tool({ title: 'bash', kind: 'execute', status: 'in_progress', rawInput: { command: 'a' } }))
    expect(lines(dialogue.interrupt() ?? '')).toMatchObject([
      { method: 'session/cancel', params: { sessionId: session } },
    ])
    expect(dialogue.push(result(3, { stopReason: 'cancelled' }))).toMatchObject([
      { type: 'tool_finished', ok: false },
      { type: 'error', code: 'aborted' },
      { type: 'end', ok: false },
    ])
  })

  test.each([
    ['authentication_error', 'unauthorized'],
    ['rate_limit_error', 'rate_limited'],
    ['overloaded_error', 'overloaded'],
    ['model: claude-none-9 not found', 'bad_model'],
    ['This run has used up its budget.', 'budget'],
    ['prompt is too long: 210000 tokens', 'prompt_too_long'],
    ['It went wrong.', 'other'],
  ])('that fails by %s is told as %s', (words, code) => {
    const dialogue = inTurn()
    const error = { code: -32_603, message: `Internal error: ${words}` }
    expect(dialogue.push(written({ id: 3, error }))).toMatchObject([
      { type: 'error', code, message: expect.not.stringContaining('Internal') },
      { type: 'end', ok: false },
    ])
  })

  test('follows the one before it in the same session, and says so when it begins', () => {
    const dialogue = inTurn()
    dialogue.push(result(3, { stopReason: 'end_turn' }))
    expect(lines(dialogue.message(message('m2')))).toMatchObject([{ id: 4, method: 'session/prompt' }])
    expect(dialogue.push(text('Again.')).slice(0, 2)).toMatchObject([
      { type: 'session', sessionId: session },
      { type: 'taken_up', messageIds: ['m2'] },
    ])
  })
})

const answer = (choice: string) => [{ choices: [choice], text: '', values: [] }]

describe('what it wants to be allowed', () => {
  test('is allowed at once where it works freely', () => {
    expect(writes(inTurn().push(wish(0, 'ls')))).toEqual([
      { jsonrpc: '2.0', id: 0, result: { outcome: { outcome: 'selected', optionId: 'once' } } },
    ])
  })

  test('is told as begun where nobody is asked', () => {
    expect(others(inTurn().push(wish(0, 'sleep 60')))).toMatchObject([
      { type: 'tool_started', kind: 'run', target: 'sleep 60' },
    ])
  })

  // So `gemini` 0.61.0 asks.
  test('is shown whole where only the title or the content tells it', () => {
    const asked = (id: number, toolCall: object) => {
      const params = { sessionId: session, toolCall: { toolCallId: `t${id}`, ...toolCall }, options: [] }
      const request = written({ id, method: 'session/request_permission', params })
      return inTurn({ mode: 'ask' }).push(request).at(-1)
    }
    const because = [{ type: 'content', content: { type: 'text', text: '[in /workspace] (Because)' } }]
    const command = `echo ${'a'.repeat(300)}\nrm -rf /`
    expect(asked(0, { title: command, kind: 'execute', content: because })).toMatchObject({
      asked: [{ title: 'Run a command', body: `\`\`\`sh\n${command}\n\`\`\`` }],
    })
    expect(asked(1, { title: 'Fetch it', kind: 'fetch', content: because })).toMatchObject({
      asked: [{ title: 'Use Fetch it', body: '```\n[in /workspace] (Because)\n```' }],
    })
  })

  test('is a question otherwise, and answered once', () => {
    const dialogue = inTurn({ mode: 'ask' })
    const events = dialogue.push(wish(0, 'ls'))
    expect(events).toMatchObject([
      { type: 'tool_started', target: 'ls' },
      { type: 'question', requestId: 'm1/0', asked: [{ kind: 'permission', body: '```sh\nls\n```' }] },
    ])
    expect(lines(dialogue.answer('m1/0', answer('deny')))).toMatchObject([
      { id: 0, result: { outcome: { optionId: 'reject' } } },
    ])
    expect(dialogue.answer('m1/0', answer('allow'))).toBe('')
  })

  test('is not asked again once it is allowed in the task, here or before', () => {
    const dialogue = inTurn({ mode: 'ask', allowedRules: ['run {"command":"pwd"}'] })
    dialogue.push(wish(0, 'ls'))
    dialogue.answer('m1/0', answer('allow_in_task'))
    for (const allowed of ['ls', 'pwd']) expect(writes(dialogue.push(wish(1, allowed)))).toHaveLength(1)
    expect(dialogue.push(wish(2, 'ls -l')).at(-1)).toMatchObject({ type: 'question' })
  })

  // So `opencode` 1.18.33 asks about a tool of an MCP server.
  test('is allowed in the task for one tool only, where the input is not told', () => {
    const dialogue = inTurn({ mode: 'ask' })
    const asked = (id: number, title: string) => {
      const toolCall = { toolCallId: `t${id}`, title, kind: 'other', status: 'pending', rawInput: {} }
      const params = { sessionId: session, toolCall, options: [{ optionId: 'once', kind: 'allow_once' }] }
      return dialogue.push(written({ id, method: 'session/request_permission', params })).at(-1)
    }
    expect(asked(0, 'tiny_add')).toMatchObject({
      asked: [
        { title: 'Use tiny_add', body: 'The agent does not tell the input.', rules: ['other tiny_add'] },
      ],
    })
    dialogue.answer('m1/0', answer('allow_in_task'))
    expect(asked(1, 'tiny_add')).toMatchObject({ type: 'write' })
    expect(asked(2, 'host_delete')).toMatchObject({ type: 'question' })
  })

  test('is withdrawn with its turn', () => {
    const dialogue = inTurn({ mode: 'ask' })
    dialogue.push(wish(0, 'ls'))
    expect(lines(dialogue.interrupt() ?? '')).toMatchObject([
      { method: 'session/cancel' },
      { id: 0, result: { outcome: { outcome: 'cancelled' } } },
    ])
    const events = dialogue.push(result(3, { stopReason: 'cancelled' }))
    expect(events).toContainEqual({ type: 'question_withdrawn', requestId: 'm1/0' })
  })

  test('beyond that is refused: it has its own files and terminals', () => {
    const request = { id: 7, method: 'fs/write_text_file', params: { path: '/workspace/a', content: '' } }
    expect(writes(inTurn().push(written(request)))).toMatchObject([{ id: 7, error: { code: -32_601 } }])
  })
})

describe('an agent that breaks the protocol', () => {
  const endOf = (events: readonly AgentEvent[]) => events.slice(-2)
  const told = [
    { type: 'error', code: 'other', message: expect.stringContaining('ACP') },
    { type: 'end', ok: false, answers: ['m1'] },
  ]
  test.each([
    ['answers what was not asked', result(99, {})],
    ['answers twice', result(2, opened)],
    ['ends a turn without a reason', result(3, {})],
    ['prints no JSON, and goes on with it', 'Listening on 4096\n'.repeat(21)],
  ])('%s: its turn ends with a sentence, and nothing more is read', (_name, line) => {
    const dialogue = inTurn()
    expect(endOf(dialogue.push(line))).toMatchObject(told)
    expect(dialogue.push(text('And on.'))).toEqual([])
  })

  test('speaks another version', () => {
    const dialogue = start()
    dialogue.message(message('m1'))
    expect(dialogue.push(result(1, { protocolVersion: 2 }))).toMatchObject(told)
  })

  test('asks twice under one id', () => {
    const dialogue = inTurn({ mode: 'ask' })
    dialogue.push(wish(0, 'ls'))
    expect(endOf(dialogue.push(wish(0, 'pwd')))).toMatchObject(told)
  })

  test('speaks of another session, and of what it should not: that is passed over', () => {
    const dialogue = inTurn()
    const chunk = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'No.' } }
    expect(dialogue.push(update(chunk, 'another'))).toEqual([])
    expect(dialogue.push(update({ sessionUpdate: 'news' }))).toEqual([])
    expect(dialogue.push(update({ sessionUpdate: 'tool_call', toolCallId: 5 }))).toEqual([])
    expect(dialogue.push('a stray line\n')).toMatchObject([{ type: 'unknown' }])
  })

  test('floods: of the tools of a turn only the first are told', () => {
    const dialogue = inTurn()
    const flood = Array.from({ length: 10_050 }, (_, index) =>
      update({ sessionUpdate: 'tool_call', toolCallId: `t${index}`, status: 'completed' }),
    ).join('')
    const events = dialogue.push(flood)
    expect(events.filter(({ type }) => type === 'tool_finished')).toHaveLength(10_000)
  })

  test('floods with one tool after the other: what is over counts, though it is forgotten', () => {
    const dialogue = inTurn()
    const pairs = Array.from({ length: 10_050 }, (_, index) => {
      const of = (status: string) => update({ sessionUpdate: 'tool_call', toolCallId: `t${index}`, status })
      return `${of('in_progress')}${of('completed')}${of('completed')}`
    }).join('')
    const events = dialogue.push(pairs)
    expect(events.filter(({ type }) => type === 'tool_started')).toHaveLength(10_000)
    expect(events.filter(({ type }) => type === 'tool_finished')).toHaveLength(10_000)
  })

  test('writes without end, or asks without end', () => {
    const written = inTurn().push(text('x'.repeat(1_000_000)).repeat(9))
    expect(endOf(written)).toMatchObject(told)
    const wishes = Array.from({ length: 101 }, (_, index) => wish(index, 'ls')).join('')
    const asked = inTurn({ mode: 'ask' }).push(wishes)
    expect(asked.filter(({ type }) => type === 'question_withdrawn')).toHaveLength(100)
    expect(endOf(asked)).toMatchObject(told)
  })

  test('dies: what it had begun is ended', () => {
    const dialogue = inTurn()
    dialogue.push(text('I beg'))
    expect(dialogue.end()).toEqual([{ type: 'text', messageKey: 'm1/1', text: 'I beg', cut: true }])
  })
})
