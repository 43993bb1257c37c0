/** Messages wait in a queue: one turn or command at a time, in the order of sending. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { executionId, messageId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import type { ExecutionOutcome } from './commands.ts'
import {
  ExecutionCompleted,
  ExecutionFailed,
  MessageEdited,
  MessagePosted,
  MessageWithdrawn,
  QueueReordered,
  type ExecutionKind,
} from './events.ts'
import { task } from './task.ts'

const send = (n: number, kind: ExecutionKind = 'turn') =>
  ({
    type: 'SendMessage',
    messageId: messageId(n),
    kind,
    agent: null,
    message: `message ${n}`,
    images: [],
    executionId: executionId(n),
  }) as const

const sendNow = (n: number) => ({ ...send(n, 'command'), runsNow: true }) as const

const end = (n: number, outcome: ExecutionOutcome, next = n + 1) =>
  ({
    type: 'EndExecution',
    fence: { executionId: executionId(n), attempt: 1 },
    outcome,
    terminal: null,
    nextExecutionId: executionId(next),
  }) as const

const withdraw = (n: number) => ({ type: 'WithdrawMessage', messageId: messageId(n) }) as const
const withdrawn = (n: number) => MessageWithdrawn.of({ messageId: messageId(n) })

/** So many messages wait, from message 2 on. */
const messagesWait = (count: number) => Array.from({ length: count }, (_, index) => past.waits(index + 2))

const ok = { kind: 'completed', exitCode: null } as const
const failure = {
  kind: 'failed',
  code: 'agent_silent',
  reason: 'The agent said nothing for 15 minutes.',
  exitCode: null,
} as const

describe('a message', () => {
  test('starts a turn when nothing runs', () =>
    given(task, past.completed)
      .when(send(2))
      .then([past.waits(2), past.requested(2)]))

  test.each([
    ['queued', past.queued],
    ['running', past.running],
    ['being cancelled', past.cancelling],
  ])('waits while a turn is %s', (_, events) =>
    given(task, events)
      .when(send(2))
      .then([past.waits(2)]),
  )

  test('that is to run now is refused while a turn runs, and starts where nothing does', () => {
    given(task, past.running).when(sendNow(2)).thenRefused('task_running')
    given(task, past.completed)
      .when(sendNow(2))
      .then([past.waits(2, 'command'), past.requested(2, 'follow_up', { kind: 'command' })])
  })

  test('goes behind what waits already', () =>
    given(task, past.running, past.waits(2), past.broke(1))
      .when(send(3))
      .then([past.waits(3), past.requested(3, 'follow_up', { message: 2 })]))

  test('goes to the agent it names', () =>
    given(task, past.completed)
      .when({ ...send(2), agent: 'cursor' })
      .then([past.waits(2, 'turn', 'cursor'), past.requested(2, 'follow_up', { agent: 'cursor' })]))

  test('goes to the agent that worked last when it names none', () =>
    given(task, past.running, past.agentStarted(1, 'cursor'), past.succeeded(1))
      .when(send(2))
      .then([past.waits(2, 'turn', 'cursor'), past.requested(2, 'follow_up', { agent: 'cursor' })]))

  test.each([
    ['waits', [past.running, past.waits(2)]],
    [
      'was delivered',
      [past.running, past.waits(2), past.succeeded(1), past.requested(2), past.started(2), past.delivered(2)],
    ],
    ['was cancelled before it started', [past.completed, past.waits(2), past.requested(2), past.stopped(2)]],
  ])('is not sent again under the id of one that %s', (_, events) =>
    given(task, ...events)
      .when(send(2))
      .thenRefused('already_exists'),
  )
})

describe('of the messages that wait', () => {
  test('there may be a hundred', () =>
    given(task, past.running, messagesWait(99))
      .when(send(101))
      .then([past.waits(101)]))

  test.each([
    ['turn', 'runs', past.running],
    ['command', 'runs', past.running],
    ['turn', 'went wrong', past.failed],
  ] as const)('a %s is refused past a hundred while one %s', (kind, _, events) =>
    given(task, events, messagesWait(100)).when(send(102, kind)).thenRefused('queue_full'),
  )

  test('one that is sent again is known, however many wait', () =>
    given(task, past.running, messagesWait(100)).when(send(2)).thenRefused('already_exists'))

  test.each([
    ['was withdrawn', [withdrawn(50)]],
    ['was delivered', [past.succeeded(1), past.requested(2), past.started(2), past.delivered(2)]],
  ])('another may come once one %s', (_, events) =>
    given(task, past.running, messagesWait(100), events)
      .when(send(102))
      .then([past.waits(102)]),
  )
})

describe('a note', () => {
  const note = { type: 'PostNote', messageId: messageId(900), message: 'Deploys are frozen.' } as const
  const posted = MessagePosted.of(
    { messageId: messageId(900), messageType: 'system', agent: null, executionId: null },
    { message: 'Deploys are frozen.' },
  )

  test.each([
    ['that is idle', past.completed],
    ['that runs', past.running],
    ['whose messages wait', [...past.running, past.waits(2), past.broke(1)]],
  ])('is posted to a task %s, and starts no turn', (_, events) => {
    given(task, events).when(note).then([posted])
    expect(stateAfter(task, events, posted)).toEqual(stateAfter(task, events))
  })

  test('needs no place among what waits', () =>
    given(task, past.running, messagesWait(100)).when(note).then([posted]))
})

describe('when a turn ends', () => {
  const waiting = [past.running, past.waits(2), past.waits(3)]

  test('well, the next message starts', () =>
    given(task, ...waiting)
      .when(end(1, ok))
      .then([past.succeeded(1), past.requested(2)]))

  test('well, and nothing waits, the task is completed', () =>
    given(task, past.running)
      .when(end(1, ok))
      .then([past.succeeded(1)]))

  test('badly, what waits goes on waiting', () =>
    given(task, ...waiting)
      .when(end(1, failure))
      .then([past.broke(1)]))

  test('by cancellation, what waits goes on waiting', () =>
    given(task, ...waiting)
      .when(end(1, { kind: 'cancelled' }))
      .then([past.stopped(1)]))

  test('by cancellation, what was sent after that was asked for goes on, from the head of the queue', () => {
    const cancelling = [...waiting, past.cancelAsked(1), past.waits(4)]
    given(task, ...cancelling)
      .when(end(1, { kind: 'cancelled' }))
      .then([past.stopped(1), past.requested(2)])
    given(task, ...cancelling, withdrawn(4))
      .when(end(1, { kind: 'cancelled' }))
      .then([past.stopped(1)])
  })

  test('well although a person asked to cancel it, what waits goes on waiting', () =>
    given(task, ...waiting, past.cancelAsked(1))
      .when(end(1, ok))
      .then([past.succeeded(1)]))

  test('badly, what waits starts when a person asks', () =>
    given(task, ...waiting, past.broke(1))
      .when({ type: 'RequestExecution', executionId: executionId(2) })
      .then([past.requested(2)]))
})

describe('a command', () => {
  test('shares the queue of the turns', () =>
    given(task, past.completed)
      .when(send(2, 'command'))
      .then([past.waits(2, 'command'), past.requested(2, 'follow_up', { kind: 'command' })]))

  test('keeps its exit code', () =>
    given(task, past.commandRunning(past.completed))
      .when(end(2, { kind: 'completed', exitCode: 1 }))
      .then([past.succeeded(2, 1)]))

  test('that fails does not stop the queue: no turn went wrong', () =>
    given(task, past.commandRunning(past.completed), past.waits(3))
      .when(end(2, { kind: 'failed', code: 'timeout', reason: 'The command took too long.', exitCode: 124 }))
      .then([
        ExecutionFailed.of(
          {
            executionId: executionId(2),
            messageId: messageId(2),
            code: 'timeout',
            exitCode: 124,
            terminal: null,
            retryAt: null,
          },
          { reason: 'The command took too long.' },
        ),
        past.requested(3),
      ]))

  test('that is cancelled stops the queue', () =>
    given(task, past.commandRunning(past.completed), past.waits(3))
      .when(end(2, { kind: 'cancelled' }))
      .then([past.stopped(2)]))

  test.each([
    ['completed', past.completed],
    ['failed', past.failed],
    ['cancelled', past.cancelled],
  ])('gives a %s task its status back, however it ends', (status, before) => {
    for (const outcome of [past.succeeded(2, 0), past.succeeded(2, 1), past.broke(2), past.stopped(2)]) {
      expect(stateAfter(task, past.commandRunning(before), outcome)).toMatchObject({ phase: { status } })
    }
  })

  test('gives the status back to a task whose turn ended just before', () =>
    expect(
      stateAfter(
        task,
        past.running,
        past.waits(2, 'command'),
        past.succeeded(1),
        past.requested(2, 'follow_up', { kind: 'command' }),
        past.started(2),
        past.delivered(2),
        past.broke(2),
      ),
    ).toMatchObject({ phase: { status: 'completed' } }))
})

describe('a message that waits', () => {
  test('can be withdrawn', () =>
    given(task, past.running, past.waits(2))
      .when(withdraw(2))
      .then([withdrawn(2)]))

  test('is not delivered once withdrawn', () =>
    given(task, past.running, past.waits(2), past.waits(3), withdrawn(2))
      .when(end(1, ok))
      .then([past.succeeded(1), past.requested(2, 'follow_up', { message: 3 })]))

  test.each([
    ['was delivered', past.running],
    ['is on its way to a runner', past.queued],
    ['was cancelled on its way', [...past.queued, past.stopped(1)]],
  ])('cannot be withdrawn once it %s', (_, events) =>
    given(task, events).when(withdraw(1)).thenRefused('message_delivered'),
  )

  test('is withdrawn once', () =>
    given(task, past.running, past.waits(2), withdrawn(2)).when(withdraw(2)).thenRefused('not_found'))

  test('must exist to be withdrawn', () =>
    given(task, past.running)
      .when(withdraw(9))
      .thenRefused('not_found', 'There is no such message in this task.'))
})

test('the end names the last output, so that the terminal belongs to the turn', () => {
  const terminal = { revision: 41, hash: 'f'.repeat(64) }
  given(task, past.running)
    .when({ ...end(1, ok), terminal })
    .then([
      ExecutionCompleted.of({
        executionId: executionId(1),
        messageId: messageId(1),
        exitCode: null,
        terminal,
      }),
    ])
})

describe('a message that waits, written anew,', () => {
  const edit = (n: number) =>
    ({ type: 'EditMessage', messageId: messageId(n), message: 'Better words.' }) as const
  const edited = (n: number) => MessageEdited.of({ messageId: messageId(n) }, { message: 'Better words.' })

  test('keeps its place', () => {
    given(task, past.running, past.waits(2), past.waits(3))
      .when(edit(2))
      .then([edited(2)])
    given(task, past.running, past.waits(2), past.waits(3), edited(2))
      .when(end(1, ok))
      .then([
        ExecutionCompleted.of({
          executionId: executionId(1),
          messageId: messageId(1),
          exitCode: null,
          terminal: null,
        }),
        past.requested(2, 'follow_up', { message: 2 }),
      ])
  })

  test.each([
    ['is on its way to an agent', past.queued],
    ['was given to an agent', past.running],
  ])('is too late once it %s', (_, events) =>
    given(task, events).when(edit(1)).thenRefused('message_delivered'),
  )

  test('must exist', () => given(task, past.running).when(edit(9)).thenRefused('not_found'))
})

describe('the queue', () => {
  const reorder = (...numbers: number[]) =>
    ({ type: 'ReorderQueue', messageIds: numbers.map((n) => messageId(n)) }) as const
  const reordered = (...numbers: number[]) =>
    QueueReordered.of({ messageIds: numbers.map((n) => messageId(n)) })

  test('goes in the order it was put in, and what comes later comes last', () => {
    const three = [...past.running, ...messagesWait(3)]
    given(task, three)
      .when(reorder(4, 2, 3))
      .then([reordered(4, 2, 3)])
    const state = stateAfter(task, three, reordered(4, 2, 3), past.waits(5))
    expect(state.kind === 'task' && state.queue.map((waiting) => waiting.messageId)).toEqual(
      [4, 2, 3, 5].map((n) => messageId(n)),
    )
  })

  test('that is in this order already stays as it is', () =>
    given(task, past.running, messagesWait(3))
      .when(reorder(2, 3, 4))
      .thenNothing())

  test.each([
    ['one is left out', [3, 2]],
    ['one is named twice', [4, 3, 2, 2]],
    ['one does not wait', [4, 3, 2, 1]],
    ['nothing is named', []],
  ])('is not put in order when %s', (_, numbers) =>
    given(task, past.running, messagesWait(3))
      .when(reorder(...numbers))
      .thenRefused('queue_changed'),
  )

  test('leaves what is on its way to a runner where it is', () => {
    const onItsWay = [
      ...past.running,
      ...messagesWait(3),
      past.succeeded(1),
      past.requested(2, 'follow_up', { message: 2 }),
    ]
    given(task, onItsWay)
      .when(reorder(4, 3))
      .then([reordered(4, 3)])
    given(task, onItsWay)
      .when(reorder(4, 3, 2))
      .thenRefused('queue_changed')
    const state = stateAfter(task, onItsWay, reordered(4, 3))
    expect(state.kind === 'task' && state.queue.map((waiting) => waiting.messageId)).toEqual(
      [2, 4, 3].map((n) => messageId(n)),
    )
  })
})

describe('a command of the agent’s own terminal', () => {
  const words = { message: '/clear' }
  const fault = { refused: 'invalid_input', field: 'message' }

  test('is no message to it, sent or changed into, and a person’s command may begin so', () => {
    expect(task.decide({ ...send(2), ...words }, stateAfter(task, past.completed))).toMatchObject(fault)
    const waiting = stateAfter(task, [...past.running, past.waits(2), past.waits(3, 'command')])
    const edit = (n: number) => ({ type: 'EditMessage', messageId: messageId(n), ...words }) as const
    expect(task.decide(edit(2), waiting)).toMatchObject(fault)
    expect(task.decide(edit(3), waiting)).toEqual([MessageEdited.of({ messageId: messageId(3) }, words)])
  })
})
