/** The messages that the socket sends for each event of a task. */
import { describe, expect, test } from 'vitest'
import { eventKinds, type DomainEvent } from '#domain/events.ts'
import { taskStream, terminalStream, userStream } from '#domain/kernel/streams.ts'
import {
  CancellationRequested,
  ExecutionCancelled,
  ExecutionCompleted,
  ExecutionFailed,
  ExecutionRequested,
  ExecutionStarted,
  MessageEdited,
  MessageWithdrawn,
  MessagePosted,
  MessageQueued,
  PullRequestOpened,
  TaskCreated,
  TaskDeleted,
  ToolStarted,
  type ExecutionKind,
  type TaskEvent,
} from '#domain/task/events.ts'
import {
  MessageTextRecorded,
  TerminalOutputRecorded,
  type TerminalEvent,
} from '#domain/task/terminalEvents.ts'
import { SessionStarted } from '#domain/user/events.ts'
import { chatView, type MessageDocument } from '#domain/views/chat.ts'
import type { SealedImage } from '#domain/views/images.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { executionId, messageId, projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { erased, moment, recorded } from '../../../tests/domain/recorded.ts'
import { socketMessagesOf as messagesWith, type Around } from './socketMessages.ts'

const addressOf = ({ imageId, scope }: SealedImage) => `/${imageId}?${scope}`
const socketMessagesOf = (event: AnyRecorded, around: Around) => messagesWith(event, around, addressOf)

const stream = taskStream(taskId(1))
const work = { executionId: executionId(1), messageId: messageId(1) }

const created = TaskCreated.of(
  { taskId: taskId(1), ownerId: userId(1), projectId: projectId(1), agent: 'claude' },
  { title: 't', description: 'd', branch: 'main', codexModel: null },
)
const queued = (kind: ExecutionKind) =>
  MessageQueued.of(
    { messageId: messageId(1), kind, agent: 'claude', images: [] },
    { message: 'Do it', imageNames: [] },
  )
const requested = (kind: ExecutionKind) =>
  ExecutionRequested.of({ ...work, kind, reason: 'start', agent: 'claude' })
const started = ExecutionStarted.of({ ...work, attempt: 1, runnerId: 'r' })

/** The socket messages for `event`, which follows `history` in the stream of a task. */
function saidOf(
  history: readonly TaskEvent[],
  event: TaskEvent,
  isCommand = false,
  changedMessage?: MessageDocument,
) {
  const before = history
    .map((past, revision) => recorded(past, { revision, stream }) as AnyRecorded)
    .reduce<ReturnType<typeof tasksView.evolve>>(
      (document, past) => tasksView.evolve(document, past, taskId(1)),
      undefined,
    )
  const next = recorded(event, { revision: history.length, stream, position: '70' }) as AnyRecorded
  return socketMessagesOf(next, {
    before,
    after: tasksView.evolve(before, next, taskId(1)),
    isCommand,
    changedMessage,
  })
}
const printed = (event: TerminalEvent) => {
  const placed = recorded(event, { revision: 4, stream: terminalStream(taskId(1)), position: '70' })
  return socketMessagesOf(placed as AnyRecorded, { before: undefined, after: undefined, isCommand: false })
}
const names = (messages: ReturnType<typeof socketMessagesOf>) => messages.map(([name]) => name)
const place = { position: '70', version: expect.any(Number), commandId: 'command' }
const printedAt = { ...place, version: 4 }
const toRunning = (kind: ExecutionKind) => [created, queued(kind), requested(kind), started]

describe('output', () => {
  const of = (kind: ExecutionKind, channel: 'stdout' | 'stderr') =>
    TerminalOutputRecorded.of({ executionId: executionId(1), attempt: 1, kind, channel }, { text: 'hello\n' })
  const item = {
    taskId: taskId(1),
    timestamp: moment,
    content: 'hello\n',
    type: 'stdout',
    executionId: executionId(1),
    ...printedAt,
  }

  test("of an agent's turn is an item of the terminal", () => {
    expect(printed(of('turn', 'stdout'))).toEqual([['terminal_output', item]])
  })
  test('of a command is said as such as well', () => {
    expect(printed(of('command', 'stderr'))).toEqual([
      ['terminal_output', { ...item, type: 'stderr' }],
      [
        'command_output',
        {
          taskId: taskId(1),
          type: 'stderr',
          output: 'hello\n',
          executionId: executionId(1),
          ...printedAt,
        },
      ],
    ])
  })
  test('whose key was destroyed is empty', () => {
    const placed = erased(recorded(of('turn', 'stdout'), { revision: 4, stream: terminalStream(taskId(1)) }))
    const around = { before: undefined, after: undefined, isCommand: false }
    expect(socketMessagesOf(placed as AnyRecorded, around)).toMatchObject([
      ['terminal_output', { content: '' }],
    ])
  })
  test('that is a message being written is a piece with its place in it', () => {
    const piece = { executionId: executionId(1), attempt: 1, messageId: messageId(2), offset: 12 }
    expect(
      printed(
        MessageTextRecorded.of(piece, {
          text: ' world',
          begunAt: '2026-01-01T00:00:00.000Z',
          chunks: [[6, 0]],
        }),
      ),
    ).toEqual([
      [
        'chat_message_delta',
        {
          taskId: taskId(1),
          messageId: messageId(2),
          offset: 12,
          text: ' world',
          executionId: executionId(1),
          ...printedAt,
        },
      ],
    ])
  })
})

describe('a message', () => {
  test('that was written anew is said whole', () => {
    const message = chatView.evolve(undefined, recorded(queued('turn'), { revision: 1, stream }), '')
    const edited = MessageEdited.of({ messageId: messageId(1) }, { message: 'Do it well' })
    const anew = chatView.evolve(message, recorded(edited, { revision: 2, stream }), '')
    expect(saidOf([created, queued('turn')], edited, false, anew)).toMatchObject([
      [
        'chat_message',
        { id: messageId(1), message: 'Do it well', isEdited: true, commandId: 'command', position: '70' },
      ],
    ])
  })
  test('of a person is the bare message, as the chat shows it', () => {
    expect(saidOf([created], queued('turn'))).toMatchObject([
      [
        'chat_message',
        {
          id: messageId(1),
          task: taskId(1),
          project: projectId(1),
          owner: userId(1),
          message: 'Do it',
          messageType: 'user',
          isCommand: false,
          commandStatus: 'pending',
          position: '70',
        },
      ],
    ])
  })
  test('that was withdrawn is told as one that is not to be seen', () => {
    const message = chatView.evolve(undefined, recorded(queued('turn'), { revision: 1, stream }), '')
    const withdrawn = MessageWithdrawn.of({ messageId: messageId(1) })
    expect(saidOf([created, queued('turn')], withdrawn, false, message)).toMatchObject([
      ['chat_message', { id: messageId(1), isVisible: false, position: '70', version: 2 }],
    ])
  })
  test('that is a command says so', () => {
    const [said] = saidOf([created], queued('command'))
    expect(said).toMatchObject([
      'chat_message',
      { messageType: 'command', isCommand: true, commandText: 'Do it', commandStatus: 'queued' },
    ])
  })
  test('of an agent comes from the agent', () => {
    const data = { messageId: messageId(3), messageType: 'response', agent: 'claude' } as const
    const response = MessagePosted.of({ ...data, executionId: executionId(1) }, { message: 'Done' })
    expect(saidOf(toRunning('turn'), response)[0]).toMatchObject([
      'chat_message',
      { owner: 'claude', messageType: 'response', message: 'Done' },
    ])
  })
  test('that was withdrawn, and of which nothing is known any more, is told to our own client alone', () => {
    const withdrawn = MessageWithdrawn.of({ messageId: messageId(1) })
    expect(names(saidOf([created, queued('turn')], withdrawn))).toEqual(['task_event'])
  })
})

describe('an execution', () => {
  test('that is asked for changes the status', () => {
    expect(saidOf([created, queued('turn')], requested('turn'))).toMatchObject([
      ['task_event', { type: 'ExecutionRequested' }],
      ['task_status_changed', { taskId: taskId(1), status: 'queued', progress: 0, ...place }],
    ])
  })
  test('that starts changes the status, and how its message fares', () => {
    expect(saidOf([created, queued('turn'), requested('turn')], started)).toMatchObject([
      ['task_event', { type: 'ExecutionStarted' }],
      [
        'chat_message_status_changed',
        { taskId: taskId(1), messageId: messageId(1), commandStatus: 'pending', response: null, ...place },
      ],
      ['task_status_changed', { status: 'running', progress: 5, ...place }],
    ])
  })
  test.each([
    ['completed', ExecutionCompleted.of({ ...work, exitCode: null, terminal: null })],
    [
      'failed',
      ExecutionFailed.of(
        { ...work, code: 'c', exitCode: null, terminal: null, retryAt: null },
        { reason: 'r' },
      ),
    ],
    ['cancelled', ExecutionCancelled.of({ ...work, terminal: null })],
  ])('of a turn that ends %s says so as the status, and speaks of no command', (status, end) => {
    const messages = saidOf(toRunning('turn'), end)
    expect(names(messages)).toEqual(['task_event', 'chat_message_status_changed', 'task_status_changed'])
    expect(messages[2]).toMatchObject(['task_status_changed', { status, ...place }])
  })
  test.each([
    ['command_completed', 0, ExecutionCompleted.of({ ...work, exitCode: 0, terminal: null })],
    ['command_failed', 3, ExecutionCompleted.of({ ...work, exitCode: 3, terminal: null })],
    [
      'command_failed',
      null,
      ExecutionFailed.of(
        { ...work, code: 'c', exitCode: null, terminal: null, retryAt: null },
        { reason: 'r' },
      ),
    ],
    ['command_cancelled', null, ExecutionCancelled.of({ ...work, terminal: null })],
  ])(
    'of a command is told as %s with exit code %s, and the task has its status back',
    (name, exitCode, end) => {
      const messages = saidOf(toRunning('command'), end, true)
      const commandStatus = name.replace('command_', '')
      const reason = name === 'command_failed' ? 'r' : 'cancelled'
      const response = exitCode === null ? reason : `exit ${exitCode}`
      expect(messages).toMatchObject([
        ['task_event', {}],
        ['chat_message_status_changed', { messageId: messageId(1), commandStatus, response, ...place }],
        [name, { taskId: taskId(1), ...work, exitCode, ...place }],
        ['task_status_changed', { status: 'pending', ...place }],
      ])
    },
  )
  test('that was asked to stop is not stopped yet', () => {
    const asked = CancellationRequested.of({ executionId: executionId(1) })
    expect(names(saidOf(toRunning('turn'), asked))).toEqual(['task_event'])
  })
})

test('progress is a change of status too', () => {
  const tool = ToolStarted.of(
    { executionId: executionId(1), toolId: 't', kind: 'run', parentToolId: null },
    { name: 'Bash', target: 'ls', input: '' },
  )
  expect(saidOf(toRunning('turn'), tool)).toMatchObject([
    ['task_event', { type: 'ToolStarted' }],
    ['task_status_changed', { status: 'running', progress: 23 }],
  ])
})

test('what changes no status says none', () => {
  const opened = PullRequestOpened.of(
    { requestId: 'r' },
    { number: 1, url: 'http://x', headCommit: 'c'.repeat(40) },
  )
  expect(names(saidOf(toRunning('turn'), opened))).toEqual(['task_event'])
})

test('where the status before is not known, the status now is said', () => {
  const history = [...toRunning('turn')]
  const after = history
    .map((past, revision) => recorded(past, { revision, stream }) as AnyRecorded)
    .reduce<ReturnType<typeof tasksView.evolve>>(
      (document, past) => tasksView.evolve(document, past, taskId(1)),
      undefined,
    )
  const event = recorded(started, { revision: 3, stream }) as AnyRecorded
  const messages = socketMessagesOf(event, { before: undefined, after, isCommand: false })
  expect(messages.at(-1)).toMatchObject(['task_status_changed', { status: 'running' }])
})

test('of a task that is no more only the bare event is said', () => {
  expect(names(saidOf(toRunning('turn'), TaskDeleted.of({})))).toEqual(['task_event'])
})

test('what happens to people and projects is nobody else’s to hear', () => {
  const session = SessionStarted.of(
    { sessionId: '00000000-0000-4000-8000-000000000001', expiresAt: moment },
    { client: null },
  )
  const event = recorded(session, { revision: 0, stream: userStream(userId(1)) }) as AnyRecorded
  expect(socketMessagesOf(event, { before: undefined, after: undefined, isCommand: false })).toEqual([])
})

test('every kind of event is known here', () => {
  const around = { before: undefined, after: undefined, isCommand: false }
  for (const { type } of eventKinds.values()) {
    const event = { type, data: { retryAt: moment }, content: null } as unknown as DomainEvent
    expect(() =>
      socketMessagesOf(recorded(event, { revision: 0, stream }) as AnyRecorded, around),
    ).not.toThrow()
  }
})
