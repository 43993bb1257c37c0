/** A retry repeats the last turn, however it ended; `execute` starts the first of the waiting messages. */
import { describe, test } from 'vitest'
import { given } from '../../tests/domain/given.ts'
import { executionId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { task } from './task.ts'

const retry = { type: 'RetryTask', executionId: executionId(5) } as const
const execute = { type: 'RequestExecution', executionId: executionId(5) } as const
const again = (message: number) => past.requested(5, 'retry', { message })
const afterCommand = [...past.commandRunning(past.completed), past.succeeded(2, 0)]
const cancelledOnItsWay = [...past.completed, past.waits(2), past.requested(2), past.stopped(2)]

describe('a retry', () => {
  test.each([
    ['completed', past.completed],
    ['failed', past.failed],
    ['cancelled', past.cancelled],
    ['cancelled before it started', [...past.queued, past.stopped(1)]],
  ])('of a task that was %s works on the same message', (_, events) =>
    given(task, events)
      .when(retry)
      .then([again(1)]),
  )

  test('delivers the message a second time to nobody', () =>
    given(task, past.failed, again(1))
      .when({
        type: 'StartExecution',
        executionId: executionId(5),
        afterAttempt: 0,
        runnerId: 'runner-1',
      })
      .then([past.started(5, 1, 1)]))

  test('works on the last turn, not on the command after it', () =>
    given(task, afterCommand)
      .when(retry)
      .then([again(1)]))

  test('works on the turn that was cancelled on its way', () =>
    given(task, cancelledOnItsWay)
      .when(retry)
      .then([again(2)]))

  test('uses the agent of that turn', () =>
    given(
      task,
      past.completed,
      past.waits(2, 'turn', 'cursor'),
      past.requested(2, 'follow_up', { agent: 'cursor' }),
      past.started(2),
      past.delivered(2),
      past.broke(2),
    )
      .when(retry)
      .then([past.requested(5, 'retry', { message: 2, agent: 'cursor' })]))

  test('comes before what waits', () =>
    given(task, past.running, past.waits(2), past.broke(1))
      .when(retry)
      .then([again(1)]))

  test.each([
    ['queued', past.queued],
    ['running', past.running],
  ])('of a %s task is refused', (_, events) => given(task, events).when(retry).thenRefused('task_running'))

  test('needs a message', () => given(task, past.created).when(retry).thenRefused('nothing_to_run'))
})

describe('execute', () => {
  test('starts what waits', () =>
    given(task, past.running, past.waits(2), past.broke(1))
      .when(execute)
      .then([past.requested(5, 'follow_up', { message: 2 })]))

  test('works on the last turn again when nothing waits', () =>
    given(task, past.completed)
      .when(execute)
      .then([again(1)]))

  test('of a queued task is done already', () => given(task, past.queued).when(execute).thenNothing())

  test('of a running task is refused', () =>
    given(task, past.running).when(execute).thenRefused('task_running'))

  test('needs a message', () => given(task, past.created).when(execute).thenRefused('nothing_to_run'))
})
