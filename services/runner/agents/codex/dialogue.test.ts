import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { permissionOptions, planOptions, type Answer } from '#domain/task/questionEvents.ts'
import type { AgentModel } from '#domain/api/server.schema.ts'
import type { AgentEvent } from '../port.ts'
import { turnMessages } from '../../execution/turn/turnMessages.ts'
import { codexDialogue } from './dialogue.ts'
import { commandOf } from './tools.ts'

/** What the real CLI printed, one scenario a file. */
const folder = new URL('../../../../tests/data/codex/', import.meta.url)
const printedIn = (scenario: string) => readFileSync(new URL(`${scenario}.jsonl`, folder), 'utf8')
/** A scenario, with codex' list of models after its first line. */
const sample = (scenario: string) => printedIn(scenario).replace('\n', () => `\n${printedIn('models')}`)

const answer = (...choices: string[]): Answer => ({ choices, text: '', values: [] })

interface Talk {
  readonly mode?: 'free' | 'ask' | 'plan'
  /** To one question after the other; without one, a question stays open. */
  readonly answers?: readonly (readonly Answer[])[]
  readonly allowedRules?: readonly string[]
  readonly chunk?: number
}

/** The events of a dialogue in which a message was sent, and what was written to codex. */
function talk(printed: string, { answers = [], chunk, ...request }: Talk = {}) {
  let at = 0
  const dialogue = codexDialogue({ model: null, mode: 'free', ...request }, () => (at += 1_000))
  const events: AgentEvent[] = []
  const models: AgentModel[] = []
  const written: string[] = [dialogue.message({ text: 'Go', images: [], id: 'the-message' })]
  const left = [...answers]
  const take = (more: readonly AgentEvent[]) => {
    for (const event of more) {
      if (event.type === 'write') written.push(event.text)
      else if (event.type === 'models') models.push(...event.models)
      else events.push(event)
      const given = event.type === 'question' ? left.shift() : undefined
      if (event.type === 'question' && given) written.push(dialogue.answer(event.requestId, given))
    }
  }
  const parts = chunk === undefined ? printed.split(/(?<=\n)/) : cut(printed, chunk)
  for (const part of parts) take(dialogue.push(part))
  take(dialogue.end())
  return { events, models, written: written.join('').trim().split('\n') }
}

const cut = (text: string, size: number): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  )

const parse = (printed: string, talked?: Talk): readonly AgentEvent[] => talk(printed, talked).events

const ofType = <Type extends AgentEvent['type']>(events: readonly AgentEvent[], type: Type) =>
  events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type)

test('a command is told with its exit code and what it printed, between what the agent thought and said', () => {
  const events = parse(sample('command'))
  expect(events.map(({ type }) => type).filter((type) => !type.endsWith('_delta'))).toEqual([
    'session',
    'taken_up',
    'thinking',
    'text',
    'tool_started',
    'tool_finished',
    'context',
    'text',
    'context',
    'end',
  ])
  expect(events[0]).toMatchObject({ sessionId: expect.any(String), model: 'gpt-6.1-sol' })
  expect(ofType(events, 'text_delta').map(({ text }) => text)).toEqual([
    'I ',
    'run ',
    'it.',
    'It ',
    'failed.',
  ])
  expect(ofType(events, 'tool_started')).toMatchObject([
    { kind: 'run', name: 'Shell', target: 'echo hi; ls; exit 3', parentToolId: null },
  ])
  expect(ofType(events, 'tool_finished')).toMatchObject([
    { ok: false, exitCode: 3, summary: 'exit code 3', output: 'hi' },
  ])
  expect(events.at(-1)).toMatchObject({ ok: true, answers: ['the-message'], durationMs: expect.any(Number) })
})

test('its models are told with their efforts, and which is its own choice', () => {
  const { models } = talk(sample('command'))
  expect(models.filter(({ isDefault }) => isDefault)).toMatchObject([
    { name: 'gpt-6.1-sol', label: 'GPT-6.1-Sol', effortLevels: expect.arrayContaining(['low', 'high']) },
  ])
  expect(models.length).toBeGreaterThan(1)
})

test('edits are told by their paths in the workspace, with what they change', () => {
  const events = parse(sample('edit'))
  expect(ofType(events, 'tool_started').map(({ kind, name, target }) => [kind, name, target])).toEqual([
    ['edit', 'Write', 'new.txt'],
    ['edit', 'Edit', 'new.txt'],
    ['run', 'Shell', 'cat new.txt'],
  ])
  expect(ofType(events, 'tool_finished').slice(0, 2)).toMatchObject([
    { ok: true, additions: 2, deletions: 0, output: '@@ -0,0 +1,2 @@\n+One.\n+More.' },
    { ok: true, additions: 1, deletions: 1, output: '@@ -1,2 +1,2 @@\n-One.\n+Two.\n More.' },
  ])
})

test('the stream may be cut anywhere', () => {
  const withoutTimes = (events: readonly AgentEvent[]) =>
    events.map((event) => (event.type === 'end' ? { ...event, durationMs: 0 } : event))
  expect(withoutTimes(parse(sample('edit'), { chunk: 7 }))).toEqual(withoutTimes(parse(sample('edit'))))
})

test('what was begun is ended when the agent is interrupted', () => {
  // Without the answer to our request.
  const events = parse(sample('interrupt').replace(/.*"id":4,.*\n/, ''))
  expect(ofType(events, 'tool_finished')).toMatchObject([{ ok: false, summary: 'It did not finish.' }])
  expect(ofType(events, 'error')).toMatchObject([{ code: 'aborted' }])
  expect(ofType(events, 'end')).toMatchObject([{ ok: false, answers: ['the-message'] }])
})

test('what was begun is ended when the agent dies', () => {
  const [whole = ''] = /^[\s\S]*"delta":"wait\."[^\n]*\n/.exec(sample('interrupt')) ?? []
  const events = parse(whole)
  expect(ofType(events, 'text')).toMatchObject([{ text: 'I wait.', cut: true }])
  expect(ofType(events, 'end')).toEqual([])
})

test('how full the context is is told after each call of the model, and a compaction is told', () => {
  const compaction = (threadId: string) =>
    JSON.stringify({
      method: 'item/completed',
      params: { threadId, turnId: 't', item: { type: 'contextCompaction', id: 'c' } },
    })
  const whole = sample('command')
  const { 1: threadId = '' } = /"threadId":"([^"]+)"/.exec(whole) ?? []
  const [usage = ''] = /^.*thread\/tokenUsage\/updated.*$/m.exec(whole) ?? []
  const events = parse(whole.replace(usage, `${usage}\n${compaction(threadId)}`))
  expect(events.filter(({ type }) => type === 'context' || type === 'compacted')).toEqual([
    { type: 'context', context: { usedTokens: 10_853, windowTokens: 258_400 } },
    { type: 'compacted' },
    { type: 'context', context: { usedTokens: expect.any(Number), windowTokens: 258_400 } },
  ])
  const unknown = parse(whole.replaceAll('"modelContextWindow":258400', '"modelContextWindow":null'))
  expect(ofType(unknown, 'context')).toEqual([])
  expect(ofType(unknown, 'unknown')).toEqual([])
})

test('each list of what it is about to do is told whole', () => {
  const listed = (...statuses: readonly string[]) =>
    statuses.map((status, index) => ({ text: `Step ${index + 1}`, status }))
  const tools = ofType(parse(sample('todos')), 'tool_started')
  expect(tools.map(({ kind, input }) => [kind, JSON.parse(input)])).toEqual([
    ['todo', { todo: 'Step 1', items: listed('inProgress', 'pending') }],
    ['todo', { todo: 'Step 2', items: listed('completed', 'inProgress') }],
  ])
  expect(new Set(tools.map(({ toolId }) => toolId)).size).toBe(2)
})

test('after a session that is gone nothing more is told, such as the models', () => {
  const dialogue = codexDialogue({ model: null, mode: 'free', session: 'gone' }, () => 0)
  dialogue.message({ text: 'Again', images: [], id: 'the-message' })
  const asked = dialogue.push(`${JSON.stringify({ id: 1, result: {} })}\n`)
  expect(JSON.stringify(asked)).toContain('thread/resume')
  const refused = { id: 2, error: { code: -32_600, message: 'no rollout found for thread id gone' } }
  expect(dialogue.push(`${JSON.stringify(refused)}\n`)).toMatchObject([
    { type: 'error', code: 'unknown_session' },
    { type: 'end', answers: ['the-message'] },
  ])
  expect(dialogue.push(printedIn('models'))).toEqual([])
})

describe('a question', () => {
  test('of several parts is answered at once', () => {
    const { events, written } = talk(sample('questions'), { answers: [[answer('Blue'), answer('Red')]] })
    expect(ofType(events, 'question')).toMatchObject([
      { asked: [{ title: 'Which colour?' }, { title: 'How large?', options: [{ value: 'Red' }, {}] }] },
    ])
    expect(JSON.parse(written.at(-1) ?? '')).toMatchObject({
      id: 0,
      result: { answers: { colour: { answers: ['Blue'] }, size: { answers: ['Red'] } } },
    })
    expect(ofType(events, 'question_withdrawn')).toEqual([])
  })

  test('that nobody answered is withdrawn when codex no longer waits', () => {
    expect(ofType(parse(sample('questions')), 'question_withdrawn')).toHaveLength(1)
  })

  test('for permission shows the diff or command, and its refusal is written', () => {
    const answers = [[answer(permissionOptions.allow)], [answer(permissionOptions.deny)]]
    const { events, written } = talk(sample('permissions'), { mode: 'ask', answers })
    expect(ofType(events, 'question').flatMap(({ asked }) => asked)).toMatchObject([
      { kind: 'permission', title: 'Edit new.txt', body: '```diff\n@@ -0,0 +1,1 @@\n+One.\n```' },
      { kind: 'permission', title: 'Run a command', body: '```sh\ntouch one\n```' },
    ])
    expect(written.slice(-2).map((line) => JSON.parse(line))).toEqual([
      { id: 0, result: { decision: 'accept' } },
      { id: 1, result: { decision: 'decline' } },
    ])
  })

  test('is not asked for what is allowed in this task, and an edit is refused while a plan is made', () => {
    const { events, written } = talk(sample('permissions'), { mode: 'ask', allowedRules: ['edit'] })
    expect(ofType(events, 'question').flatMap(({ asked }) => asked)).toMatchObject([
      { title: 'Run a command' },
    ])
    expect(written.map((line) => JSON.parse(line))).toContainEqual({ id: 0, result: { decision: 'accept' } })
    const planning = talk(sample('permissions'), { mode: 'plan' })
    expect(planning.written.map((line) => JSON.parse(line))).toContainEqual({
      id: 0,
      result: { decision: 'decline' },
    })
  })

  test('for a plan joins the turns that make it and carry it out', () => {
    const { events, written } = talk(sample('plan'), {
      mode: 'plan',
      answers: [[answer(planOptions.approveAndAsk)]],
    })
    expect(ofType(events, 'question').flatMap(({ asked }) => asked)).toMatchObject([
      { kind: 'plan', body: 'Do it.\n' },
    ])
    expect(ofType(events, 'session')).toHaveLength(1)
    expect(ofType(events, 'end')).toMatchObject([{ ok: true, answers: ['the-message'] }])
    expect(JSON.parse(written.at(-1) ?? '').params).toMatchObject({
      input: [{ text: 'Implement the plan.' }],
      approvalPolicy: 'untrusted',
      collaborationMode: { mode: 'default' },
    })
  })
})

describe('a message that steers counts as answered only once codex has taken it up', () => {
  const resultOf = (id: number, turnId: string) => `{"id":${id},"result":{"turn":{"id":"${turnId}"}}}\n`
  interface Told {
    readonly mode?: 'free' | 'plan'
    /** What codex tells before its turn ends, and after. */
    readonly atEnd?: (turnId: string, threadId: string) => readonly [before: string, after: string]
  }
  /** What comes of a message that is sent as codex begins to speak, and that codex answers so. */
  function steered(
    scenario: string,
    answerTo: (turnId: string, threadId: string) => string,
    { mode = 'free', atEnd = () => ['', ''] }: Told = {},
  ) {
    const printed = sample(scenario)
    const at = printed.indexOf('{"method":"item/agentMessage/delta"')
    const endsAt = printed.lastIndexOf('{"method":"turn/completed"')
    const [, threadId = ''] = /"thread":\{"id":"([^"]+)"/.exec(printed) ?? []
    const [, turnId = ''] = /"id":3,"result":\{"turn":\{"id":"([^"]+)"/.exec(printed) ?? []
    const dialogue = codexDialogue({ model: null, mode }, () => 0)
    const messages = turnMessages()
    const ends: unknown[] = []
    const seen: string[] = []
    const hear = (said: string) => {
      for (const line of said.split(/(?<=\n)/))
        for (const event of dialogue.push(line)) {
          seen.push(...messages.hear(event).seen)
          if (event.type === 'end') ends.push([event.ok, event.answers])
          if (event.type === 'question') dialogue.answer(event.requestId, [answer(planOptions.approve)])
        }
    }
    const send = (id: string) => messages.add(id) && dialogue.message({ text: id, images: [], id })
    send('the-message')
    hear(printed.slice(0, at))
    send('late')
    const [before, after] = atEnd(turnId, threadId)
    hear(answerTo(turnId, threadId))
    hear(printed.slice(at, endsAt).replace('{"id":4,', '{"id":5,'))
    hear(`${before}${printed.slice(endsAt)}${after}`)
    return { ends, seen, isOver: messages.isOver(), isCompleted: messages.isCompleted() }
  }
  const unseen = { seen: ['the-message'], isOver: true, isCompleted: true }

  test('it was taken up, and the model went on', () => {
    const item = { type: 'userMessage', id: 'u', clientId: 'late' }
    const printed = (turnId: string, threadId: string) =>
      `${resultOf(4, turnId)}${JSON.stringify({ method: 'item/completed', params: { threadId, item } })}\n`
    expect(steered('command', printed)).toEqual({
      seen: ['the-message', 'late'],
      ends: [[true, ['the-message', 'late']]],
      isOver: true,
      isCompleted: true,
    })
  })

  test('it was refused', () => {
    const refusal = '{"id":4,"error":{"message":"Input exceeds the maximum length"}}\n'
    expect(steered('command', () => refusal)).toEqual({
      ...unseen,
      ends: [
        [false, ['late']],
        [true, ['the-message']],
      ],
    })
  })

  const sentAgain = {
    ...unseen,
    ends: [
      [true, ['the-message']],
      [false, ['late']],
    ],
  }
  test('its turn ended before, whether codex answers before that or after', () => {
    expect(steered('command', (turnId) => resultOf(4, turnId))).toEqual(sentAgain)
    expect(steered('command', () => '', { atEnd: (turnId) => ['', resultOf(4, turnId)] })).toEqual(sentAgain)
  })

  // So codex does with what comes while its model says its last words.
  test('codex only noted it for the next turn', () => {
    const item = { type: 'userMessage', id: 'u', clientId: 'late' }
    const noted = (_: string, threadId: string) =>
      [`${JSON.stringify({ method: 'item/completed', params: { threadId, item } })}\n`, ''] as const
    expect(steered('command', (turnId) => resultOf(4, turnId), { atEnd: noted })).toEqual(sentAgain)
  })

  test('the plan of its turn was carried out before', () => {
    expect(steered('plan', (turnId) => resultOf(4, turnId), { mode: 'plan' })).toEqual(sentAgain)
  })
})

test('a version that does not say what it takes up answers what it was given', () => {
  const events = parse(sample('command').replaceAll('"clientId":"the-message"', '"clientId":null'))
  expect(ofType(events, 'end')).toMatchObject([{ ok: true, answers: ['the-message'] }])
})

test('a request that is not known is refused, and that is told', () => {
  const { events, written } = talk('{"id":7,"method":"account/new","params":{}}\n')
  expect(JSON.parse(written.at(-1) ?? '')).toMatchObject({ id: 7, error: { code: -32_601 } })
  expect(events).toEqual([
    {
      type: 'notice',
      text: 'Codex asked for account/new, which is not supported here. It was refused.',
    },
  ])
})

test('a question for a secret is refused, since its answer would be recorded', () => {
  const secret = sample('questions').replace('"isSecret":false', '"isSecret":true')
  const { events, written } = talk(secret)
  expect(ofType(events, 'question')).toEqual([])
  expect(written.some((line) => line.includes('-32601'))).toBe(true)
})

describe('a protocol that is broken ends the turn with a sentence', () => {
  const opened = sample('command').split('\n').slice(0, 3).join('\n')
  const begun = sample('command').split('\n').slice(0, 8).join('\n')
  const threadId = /"thread":\{"id":"([^"]+)"/.exec(opened)?.[1]
  const line = (said: object) => `${JSON.stringify(said)}\n`
  const told = (method: string, params: object) => line({ method, params: { threadId, ...params } })
  const many = (count: number, lineOf: (index: number) => string) =>
    `${begun}\n${Array.from({ length: count }, (_, index) => lineOf(index)).join('')}`
  const started = (item: object) => told('item/started', { item })
  const changes = [{ path: 'a', kind: { type: 'delete' }, diff: 'x'.repeat(20_000_000) }]
  test.each([
    ['lines that are none of the protocol', 'Nonsense\n'.repeat(21)],
    ['it answered what was not asked', `${opened}\n{"id":99,"result":{}}\n`],
    ['it opened no thread', '{"id":1,"result":{}}\n{"id":2,"result":{}}\n'],
    [
      'it begins turns without end',
      many(1_001, (index) => told('turn/started', { turn: { id: `t${index}` } })),
    ],
    [
      'it writes without end',
      many(9, () => told('item/agentMessage/delta', { itemId: 'a', delta: 'x'.repeat(500_000) })),
    ],
    [
      'it uses tools without end',
      many(10_001, (index) => started({ type: 'imageView', id: `i${index}`, path: 'a.png' })),
    ],
    [
      'it changes files without end',
      many(2, (index) => started({ type: 'fileChange', id: `e${index}`, changes, status: 'inProgress' })),
    ],
    [
      'it asks without end',
      many(101, (id) =>
        line({ id, method: 'item/commandExecution/requestApproval', params: { command: 'ls' } }),
      ),
    ],
    [
      'it asked twice',
      `${sample('questions')
        .replaceAll(/.*serverRequest.*\n/g, '')
        .replace(/.*requestUserInput.*\n/, '$&$&')}`,
    ],
  ])('%s', (sentence, printed) => {
    const events = parse(printed)
    expect(ofType(events, 'error')).toMatchObject([
      { code: 'other', message: expect.stringContaining(sentence) },
    ])
    expect(ofType(events, 'end')).toMatchObject([{ ok: false, answers: ['the-message'] }])
  })

  test('large edits may follow each other, as one that is over is kept no more', () => {
    const edits = many(2, (index) => {
      const item = { type: 'fileChange', id: `e${index}`, status: 'failed' }
      return `${started({ ...item, changes })}${told('item/completed', { item: { ...item, changes: [] } })}`
    })
    const events = parse(edits)
    expect(ofType(events, 'tool_finished')).toHaveLength(2)
    expect(ofType(events, 'error')).toEqual([])
  })
})

test('texts of two turns of a session have names of their own', () => {
  const keysIn = (scenario: string) =>
    ofType(parse(sample(scenario)), 'text').map(({ messageKey }) => messageKey)
  expect(keysIn('edit')).not.toContain(keysIn('resume')[0])
})

test('a text that broke off is written anew under its name', () => {
  const retry = `{"method":"error","params":{"threadId":"T","willRetry":true,"error":{"message":"Reconnecting... 1/3"}}}`
  const thread = /"thread":\{"id":"([^"]+)"/.exec(sample('command'))?.[1] ?? ''
  const lines = sample('command').split('\n')
  const half = lines.findIndex((line) => line.includes('"delta":"run "'))
  const again = lines.slice(half + 1).map((line) => line.replaceAll('msg_', 'again_'))
  const events = parse([...lines.slice(0, half + 1), retry.replace('T', thread), ...again].join('\n'))
  const first = ofType(events, 'text_delta')[0]?.messageKey
  expect(ofType(events, 'text_restarted')).toEqual([{ type: 'text_restarted', messageKey: first }])
  expect(ofType(events, 'text')[0]).toMatchObject({ messageKey: first, text: 'I run it.', cut: false })
  expect(ofType(events, 'notice')).toMatchObject([
    { text: 'The connection to the model broke off. Trying again (1 of 3).' },
  ])
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
      'unexpected status 503 Service Unavailable: overloaded Trying again (1 of 3).',
      'unexpected status 503 Service Unavailable: overloaded Trying again (2 of 3).',
      'unexpected status 503 Service Unavailable: overloaded Trying again (3 of 3).',
    ])
  })
})

test('a line that nobody understands is told, cut', () => {
  expect(parse('{"new":true}\nnot json\n')).toEqual([
    { type: 'unknown', line: '{"new":true}' },
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
