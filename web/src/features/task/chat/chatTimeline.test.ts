import { describe, expect, test } from 'vitest'
import type { Task } from '#domain/api/tasks.schema.ts'
import { sortKey } from '#domain/kernel/event.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import type { LogDocument } from '#domain/views/commandLog.ts'
import {
  chatTimeline,
  countMatches,
  matchingEntries,
  spanOf,
  summaryOf,
  withoutReason,
  type ChatEntry,
  type ChatMaterial,
} from './chatTimeline.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, seconds)).toISOString()

const task = (over: Partial<Task> = {}): Task => ({
  id: 't',
  title: 'Title',
  description: 'Description',
  status: 'completed',
  progress: 100,
  agent: 'claude',
  mode: 'free',
  waitingFor: null,
  projectId: 'p',
  project: { id: 'p', name: 'p', githubRepoName: 'p', githubOwner: 'ada' },
  branch: 'main',
  codexModel: null,
  modelAgent: 'claude',
  images: [],
  workingBranch: null,
  currentBranch: null,
  prUrl: null,
  prNumber: null,
  owner: 'u',
  createdAt: at(0),
  updatedAt: at(0),
  execution: null,
  failure: null,
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, model: null },
  changes: null,
  pullRequestPending: false,
  position: '1',
  version: 1,
  ...over,
})

const runs = (id: string): Partial<Task> => ({
  status: 'running',
  execution: {
    id,
    kind: 'turn',
    turn: 1,
    requestedAt: at(1),
    startedAt: at(2),
    endedAt: null,
    steps: [],
    cancelRequested: false,
  },
})

const message = (position: number, over: Partial<MessageDocument> = {}): MessageDocument => ({
  id: `m${position}`,
  messageId: `m${position}`,
  task: 't',
  message: `message ${position}`,
  messageType: 'user',
  isCommand: false,
  commandText: null,
  isVisible: true,
  isEdited: false,
  commandStatus: 'pending',
  queueIndex: null,
  response: null,
  agent: 'claude',
  images: [],
  createdAt: at(position),
  updatedAt: at(position),
  status: 'completed',
  executionId: null,
  order: sortKey(String(position)),
  position: String(position),
  version: position,
  ...over,
})

const log = (position: number, executionId: string, over: Partial<LogDocument> = {}): LogDocument => ({
  id: `${executionId}:l${position}`,
  messageId: null,
  task: 't',
  executionId,
  kind: 'run',
  name: 'Bash',
  target: 'ls',
  input: null,
  status: 'completed',
  exitCode: 0,
  durationMs: 1_000,
  additions: null,
  deletions: null,
  summary: null,
  output: null,
  timestamp: at(position),
  order: sortKey(String(position)),
  position: String(position),
  version: position,
  ...over,
})

const response = (position: number, executionId: string) =>
  message(position, { messageType: 'response', executionId })
const writing = (position: number, executionId: string, messageId = `w${position}`) => ({
  messageId,
  executionId,
  text: 'so far',
  recorded: 6,
  order: sortKey(String(position)),
})

const nothing: Omit<ChatMaterial, 'task'> = { messages: [], logs: [], writing: [], sent: [] }
const keys = (entries: readonly ChatEntry[]) => entries.map(({ key }) => key)
const partsOf = (entries: readonly ChatEntry[], key: string) => {
  const turn = entries.find((entry) => entry.key === key)
  return turn?.kind === 'turn' ? turn.parts.map(({ kind, order }) => `${kind} ${Number(order)}`) : null
}

describe('the chat', () => {
  test('a turn holds what the agent did and said, in order, under the message that began it', () => {
    const { entries } = chatTimeline({
      ...nothing,
      task: task(),
      messages: [message(1, { executionId: 'e1' }), response(5, 'e1'), response(3, 'e1')],
      logs: [log(4, 'e1'), log(2, 'e1')],
    })
    expect(keys(entries)).toEqual(['m1', 'e1'])
    expect(partsOf(entries, 'e1')).toEqual(['tool 2', 'text 3', 'tool 4', 'text 5'])
  })

  test('a command of a person is its message, and no call of the agent as well', () => {
    const ran = message(1, { executionId: 'e1', isCommand: true, messageType: 'command' })
    const { entries } = chatTimeline({
      ...nothing,
      task: task(),
      messages: [ran],
      logs: [log(2, 'e1', { messageId: 'm1' }), log(3, 'e1', { messageId: 'm2', executionId: null })],
    })
    expect(keys(entries)).toEqual(['m1'])
  })

  test('a message that waited stands at the head of its own turn, not where it was sent', () => {
    const { entries } = chatTimeline({
      ...nothing,
      task: task(),
      messages: [
        message(1, { executionId: 'e1' }),
        message(3, { executionId: 'e2' }),
        response(5, 'e1'),
        response(9, 'e2'),
      ],
      logs: [log(2, 'e1'), log(4, 'e1')],
    })
    expect(keys(entries)).toEqual(['m1', 'e1', 'm3', 'e2'])
  })

  test('a message that was tried again stands above its first attempt, which says that it failed', () => {
    const { entries } = chatTimeline({
      ...nothing,
      task: task(),
      messages: [
        message(1, { executionId: 'e1' }),
        response(2, 'e1'),
        message(3, { executionId: 'e4' }),
        message(4, { messageType: 'error', executionId: 'e2' }),
        response(6, 'e4'),
      ],
      logs: [log(5, 'e3')],
    })
    expect(keys(entries)).toEqual(['m1', 'e1', 'm3', 'e2', 'e3', 'e4'])
    expect(entries.map((entry) => (entry.kind === 'turn' ? entry.status : ''))).toEqual([
      '',
      'completed',
      '',
      'failed',
      'cancelled',
      'completed',
    ])
  })

  test('a message that waits is in the queue and not in the chat', () => {
    const { entries, queue } = chatTimeline({
      ...nothing,
      task: task(runs('e1')),
      messages: [
        message(1, { executionId: 'e1', status: 'running' }),
        message(3, { status: 'queued' }),
        message(4, { status: 'queued' }),
      ],
      logs: [log(2, 'e1')],
    })
    expect(keys(entries)).toEqual(['m1', 'e1'])
    expect(queue.map(({ id }) => id)).toEqual(['m3', 'm4'])
  })

  test('messages wait in the order that they were put in', () => {
    const { queue } = chatTimeline({
      ...nothing,
      task: task(runs('e1')),
      messages: [
        message(1, { executionId: 'e1', status: 'running' }),
        message(3, { status: 'queued', queueIndex: 1 }),
        message(4, { status: 'queued', queueIndex: 0 }),
        message(5, { status: 'queued' }),
      ],
    })
    expect(queue.map(({ id }) => id)).toEqual(['m4', 'm3', 'm5'])
  })

  test('a message that was told to a turn stands with the one that began it, which says how the turn ended', () => {
    const { entries, queue } = chatTimeline({
      ...nothing,
      task: task({ status: 'failed' }),
      messages: [
        message(1, { executionId: 'e1', status: 'failed' }),
        message(3, { executionId: 'e1', status: 'completed', isSteering: true }),
        response(4, 'e1'),
      ],
    })
    expect(keys(entries)).toEqual(['m1', 'm3', 'e1'])
    expect(queue).toEqual([])
    expect(entries.at(-1)).toMatchObject({ kind: 'turn', status: 'failed' })
  })

  test('the message of a turn that was asked for and did not begin is in the chat, with the turn below it', () => {
    const asked = task({ ...runs('e1'), status: 'queued' })
    const { entries, queue } = chatTimeline({
      ...nothing,
      task: asked,
      messages: [message(1, { status: 'queued' })],
    })
    expect(keys(entries)).toEqual(['m1', 'e1'])
    expect(queue).toEqual([])
  })

  test('a turn that has said nothing yet is there, below its message', () => {
    const { entries } = chatTimeline({
      ...nothing,
      task: task(runs('e2')),
      messages: [
        message(1, { executionId: 'e1' }),
        message(2, { executionId: 'e2', status: 'running' }),
        response(6, 'e1'),
      ],
    })
    expect(keys(entries)).toEqual(['m1', 'e1', 'm2', 'e2'])
    expect(entries.at(-1)).toMatchObject({ kind: 'turn', live: true, parts: [] })
  })

  test('text that is being written is the end of the turn, until the whole message is there', () => {
    const begun = {
      ...nothing,
      task: task(runs('e1')),
      messages: [message(1, { executionId: 'e1' })],
      logs: [log(2, 'e1')],
    }
    expect(partsOf(chatTimeline({ ...begun, writing: [writing(3, 'e1')] }).entries, 'e1')).toEqual([
      'tool 2',
      'writing 3',
    ])
    const whole = { ...response(4, 'e1'), messageId: 'w3' }
    const { entries } = chatTimeline({
      ...begun,
      messages: [...begun.messages, whole],
      writing: [writing(3, 'e1')],
    })
    expect(partsOf(entries, 'e1')).toEqual(['tool 2', 'text 4'])
  })

  test('a thought that is being written is a step of its turn, and the recorded thought takes its place', () => {
    const begun = { ...nothing, task: task(runs('e1')), logs: [log(2, 'e1')] }
    const stepsWith = (over: Partial<ChatMaterial>) => {
      const [turn] = chatTimeline({ ...begun, ...over }).entries
      return turn?.kind === 'turn'
        ? turn.parts.map((part) => (part.kind === 'tool' ? [part.key, part.log.status, part.log.output] : []))
        : []
    }
    const thought = { ...writing(3, 'e1'), thought: { begins: 0 } }
    const before = ['e1:l2', 'completed', null]
    expect(stepsWith({ writing: [thought] })).toEqual([before, ['e1:w3', 'running', 'so far']])
    expect(stepsWith({ writing: [{ ...thought, thought: { begins: 9 } }] })).toEqual([
      before,
      ['e1:w3', 'running', '… so far'],
    ])
    const whole = log(4, 'e1', { id: 'e1:w3', kind: 'thinking', output: 'so far, and on' })
    expect(stepsWith({ writing: [thought], logs: [...begun.logs, whole] })).toEqual([
      before,
      ['e1:w3', 'completed', 'so far, and on'],
    ])
    expect(stepsWith({ writing: [thought], task: task() })).toEqual([before])
  })

  test('what was sent is at the end until the log has it', () => {
    const sent = {
      id: 's',
      taskId: task().id,
      text: 'new',
      isCommand: false,
      agent: 'claude',
      sentAt: at(9),
      refused: null,
    } as const
    expect(
      keys(chatTimeline({ ...nothing, task: task(), messages: [message(1)], sent: [sent] }).entries),
    ).toEqual(['m1', 's'])
  })

  // Holds contract 9.14; screens 2.49b.
  test('messages of one owner and type within five minutes share a head', () => {
    const said = (position: number, over: Partial<MessageDocument> = {}) =>
      message(position, { messageType: 'system', agent: null, ...over })
    const { entries } = chatTimeline({
      ...nothing,
      task: task(),
      messages: [
        said(1),
        said(2, { createdAt: at(300) }),
        said(3, { createdAt: at(600) }),
        message(4, { createdAt: at(601) }),
      ],
    })
    expect(entries.map((entry) => entry.kind === 'message' && entry.grouped)).toEqual([
      false,
      true,
      false,
      false,
    ])
  })

  test('a search leaves what has the words', () => {
    const { entries } = chatTimeline({
      ...nothing,
      task: task(),
      messages: [message(1, { executionId: 'e1', message: 'Fix the Parser' }), response(3, 'e1')],
      logs: [log(2, 'e1')],
    })
    expect(countMatches(matchingEntries(entries, 'parser'))).toBe(1)
    expect(countMatches(matchingEntries(entries, 'MESSAGE 3'))).toBe(1)
    expect(matchingEntries(entries, 'nowhere')).toEqual([])
    expect(matchingEntries(entries, '  ')).toBe(entries)
  })

  test('says in a line what the tools of a turn did, and how long it took', () => {
    const logs = [
      log(1, 'e', { kind: 'read' }),
      log(2, 'e', { kind: 'read' }),
      log(3, 'e', { kind: 'edit' }),
      log(10, 'e', { kind: 'run', durationMs: 2_500 }),
    ]
    expect(summaryOf(logs)).toBe('read 2 files, edited 1, ran 1 command')
    expect(spanOf(logs)).toBe(11_500)
  })
})

test('why the latest turn failed is not said twice, and that of an earlier one stays', () => {
  const failed = (position: number, id: string) =>
    message(position, { messageType: 'error', message: 'No key.', executionId: id, status: 'failed' })
  const messages = [
    message(1, { executionId: 'one' }),
    failed(2, 'one'),
    message(3, { executionId: 'two' }),
    message(4, { messageType: 'response', message: 'I look.', executionId: 'two' }),
    failed(5, 'two'),
  ]
  const { entries } = chatTimeline({
    task: task({ status: 'failed' }),
    messages,
    logs: [],
    writing: [],
    sent: [],
  })
  const said = (all: readonly ChatEntry[]) =>
    all.flatMap((entry) =>
      entry.kind === 'turn'
        ? [entry.parts.flatMap((part) => (part.kind === 'text' ? [part.message.message] : []))]
        : [],
    )
  expect(said(entries)).toEqual([['No key.'], ['I look.', 'No key.']])
  expect(said(withoutReason(entries, 'No key.'))).toEqual([['No key.'], ['I look.']])
  expect(withoutReason(entries, 'Another.')).toBe(entries)
})
