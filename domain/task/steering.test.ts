/** A waiting message can be sent to the running turn. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { executionId, messageId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { CancellationRequested, MessageDelivered, SteeringRequested } from './events.ts'
import { task } from './task.ts'

const steer = { type: 'SteerMessage', messageId: messageId(2) } as const
const asked = SteeringRequested.of({ messageId: messageId(2), executionId: executionId(1) })
const told = MessageDelivered.of({ messageId: messageId(2), executionId: executionId(1) })
const fence = { executionId: executionId(1), attempt: 1 }
const deliver = { type: 'DeliverSteering', fence, messageId: messageId(2) } as const
const send = {
  type: 'SendMessage',
  messageId: messageId(2),
  kind: 'turn',
  agent: null,
  message: 'message 2',
  images: [],
  executionId: executionId(2),
  steers: true,
} as const
const waiting = [...past.running, past.waits(2)]

describe('a message that waits', () => {
  test('is told to the turn that runs, once', async () => {
    await given(task, waiting).when(steer).then([asked])
    await given(task, [...waiting, asked])
      .when(steer)
      .thenNothing()
    await given(task, [...waiting, asked])
      .when(deliver)
      .then([told])
    await given(task, [...waiting, asked, told])
      .when(deliver)
      .thenNothing()
    await given(task, [...waiting, asked, told])
      .when(steer)
      .thenRefused('message_delivered')
  })

  test('counts as given from the moment it was asked for', async () => {
    const past = [...waiting, asked]
    await given(task, past)
      .when({ type: 'EditMessage', messageId: messageId(2), message: 'Anew' })
      .thenRefused('message_delivered')
    await given(task, past)
      .when({ type: 'WithdrawMessage', messageId: messageId(2) })
      .thenRefused('message_delivered')
    await given(task, past).when({ type: 'ReorderQueue', messageIds: [] }).thenNothing()
  })

  test('waits as before where the turn ended before it was told', async () => {
    const state = stateAfter(task, [...waiting, asked, past.broke(1)])
    expect(state).toMatchObject({ queue: [{ messageId: messageId(2) }], steering: [] })
    await given(task, [...waiting, asked])
      .when({
        type: 'EndExecution',
        fence,
        outcome: { kind: 'completed', exitCode: null },
        terminal: null,
        nextExecutionId: executionId(2),
      })
      .then([past.succeeded(1), past.requested(2)])
  })

  test.each([
    ['nothing has begun', past.queued],
    ['the turn is to stop', [...past.running, CancellationRequested.of({ executionId: executionId(1) })]],
  ])('is not told where %s', (_, history) =>
    given(task, [...history, past.waits(2)])
      .when(steer)
      .thenRefused('no_turn_to_steer'),
  )

  test('a command is not told to an agent', () =>
    given(task, [...past.running, past.waits(2, 'command')])
      .when(steer)
      .thenRefused('no_turn_to_steer'))
})

describe('a message that is to steer', () => {
  test('is told where a turn runs', () =>
    given(task, past.running)
      .when(send)
      .then([past.waits(2), asked]))
  test('waits where the turn has not begun', () =>
    given(task, past.queued)
      .when(send)
      .then([past.waits(2)]))
  test('starts a turn where none runs', () =>
    given(task, past.completed)
      .when(send)
      .then([past.waits(2), past.requested(2)]))
})

test('what a runner reports that lost the turn is refused', () =>
  given(task, [...waiting, asked])
    .when({ ...deliver, fence: { ...fence, attempt: 2 } })
    .thenRefused('evicted'))
