/** A task has one execution at a time, claimed by one runner; reports about another execution or attempt are refused. */
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../kernel/decider.ts'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { executionId, messageId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import {
  ExecutionStarted,
  MessagePosted,
  ToolFinished,
  WorkspacePreparing,
  type ProgressEvent,
} from './events.ts'
import type { AgentName } from '../agents.ts'
import { task } from './task.ts'

/** A claim of execution `n` by a runner that saw so many attempts. */
const start = (n: number, afterAttempt = 0, runnerId = 'runner-1') =>
  ({ type: 'StartExecution', executionId: executionId(n), afterAttempt, runnerId }) as const
const report = (n: number, attempt: number, progress: readonly ProgressEvent[]) =>
  ({ type: 'RecordProgress', fence: { executionId: executionId(n), attempt }, progress }) as const
const end = (n: number, attempt: number) =>
  ({
    type: 'EndExecution',
    fence: { executionId: executionId(n), attempt },
    outcome: { kind: 'completed', exitCode: null },
    terminal: null,
    nextExecutionId: executionId(n + 1),
  }) as const
const cancel = { type: 'CancelExecution' } as const

const closed = (n: number, toolId: string) =>
  ToolFinished.of(
    {
      executionId: executionId(n),
      toolId,
      ok: false,
      durationMs: null,
      exitCode: null,
      additions: null,
      deletions: null,
    },
    { summary: 'interrupted', output: '' },
  )
const takenOver = [...past.running, past.started(1, 2)]

describe('a claim', () => {
  test('starts the execution and delivers its message', () =>
    given(task, past.queued)
      .when(start(1))
      .then([past.started(1), past.delivered(1)]))

  test('names the runner', () =>
    given(task, past.queued)
      .when(start(1, 0, 'runner-7'))
      .then([
        ExecutionStarted.of({
          executionId: executionId(1),
          messageId: messageId(1),
          attempt: 1,
          runnerId: 'runner-7',
        }),
        past.delivered(1),
      ]))

  test('of a running execution is its next attempt, and delivers nothing again', () =>
    given(task, past.running)
      .when(start(1, 1))
      .then([past.started(1, 2)]))

  test.each([
    ['that nobody has claimed', past.queued, 0],
    ['of a runner that died', past.running, 1],
    ['that was taken over before', takenOver, 2],
  ])('has one winner when two runners race for an execution %s', (_, events, seen) => {
    const claim = (runnerId: string) => start(1, seen, runnerId)
    const first = task.decide(claim('runner-1'), stateAfter(task, events))
    const won = isRefusal(first) ? [] : first
    expect(won).toContainEqual(past.started(1, seen + 1))
    // Whoever lost the append decides again, on what the winner appended.
    given(task, events, won).when(claim('runner-2')).thenRefused('evicted')
  })

  test.each([
    ['more attempts than there were', past.queued, 1],
    ['fewer attempts than there were', takenOver, 1],
  ])('is refused to a runner that saw %s', (_, events, seen) =>
    given(task, events).when(start(1, seen)).thenRefused('evicted'),
  )

  test('closes the tools that the attempt before left open', () =>
    given(task, past.running, past.toolStarted(1, 'tool-1'))
      .when(start(1, 1))
      .then([closed(1, 'tool-1'), past.started(1, 2)]))

  test('keeps that a person asked to cancel', () =>
    expect(stateAfter(task, past.cancelling, past.started(1, 2))).toMatchObject({
      phase: { status: 'running', execution: { attempt: 2, cancelRequested: true } },
    }))

  test.each([
    ['has ended', past.completed, 1],
    ['was cancelled before it started', [...past.queued, past.stopped(1)], 0],
    ['is another', [...past.completed, past.waits(2), past.requested(2)], 0],
  ])('is refused when the execution %s', (_, events, seen) =>
    given(task, events).when(start(1, seen)).thenRefused('evicted'),
  )
})

describe('the session that a next turn resumes', () => {
  const session = (agent: AgentName) => ({ session: { agent, sessionId: 'session-1' } })
  const worked = [...past.running, past.agentStarted(1)]

  test('is none before an agent has started', () =>
    expect(stateAfter(task, past.running)).toMatchObject({ session: null }))

  test.each([
    ['completed', past.succeeded(1)],
    ['failed', past.broke(1)],
    ['cancelled', past.stopped(1)],
  ])("is the agent's, however its turn ended: %s", (_, end) =>
    expect(stateAfter(task, worked, end)).toMatchObject(session('claude')),
  )

  test('is of the agent that started last', () =>
    expect(
      stateAfter(
        task,
        worked,
        past.succeeded(1),
        past.waits(2, 'turn', 'cursor'),
        past.requested(2, 'follow_up', { agent: 'cursor' }),
        past.started(2),
        past.agentStarted(2, 'cursor'),
      ),
    ).toMatchObject(session('cursor')))

  test('is left alone by a command', () =>
    expect(
      stateAfter(task, past.commandRunning([...worked, past.succeeded(1)]), past.succeeded(2, 0)),
    ).toMatchObject(session('claude')))
})

describe('a report', () => {
  const progress = [past.toolStarted(1, 'tool-1')]

  test('of the attempt that runs is recorded', () =>
    given(task, past.running)
      .when(report(1, 1, progress))
      .then(progress))

  test.each([
    ['an earlier attempt', takenOver, report(1, 1, progress)],
    ['a later attempt', past.running, report(1, 2, progress)],
    ['an attempt that was never claimed', past.queued, report(1, 0, progress)],
    ['another execution', past.running, report(2, 1, progress)],
    ['an execution that has ended', past.completed, report(1, 1, progress)],
  ])('of %s is refused', (_, events, command) => given(task, events).when(command).thenRefused('evicted'))

  test('about another execution than it is fenced by is refused', () =>
    given(task, past.running)
      .when(report(1, 1, [past.toolStarted(2, 'tool-1')]))
      .thenRefused('evicted'))

  test('may carry a message of the system, which belongs to no execution', () => {
    const posted = MessagePosted.of(
      { messageId: messageId(9), messageType: 'system', agent: null, executionId: null },
      { message: 'The setup command took 4 s.' },
    )
    given(task, past.running)
      .when(report(1, 1, [posted]))
      .then([posted])
  })
})

describe('an end', () => {
  test.each([
    ['an earlier attempt', takenOver, end(1, 1)],
    ['an attempt that was never claimed', past.queued, end(1, 0)],
    ['another execution', past.running, end(2, 1)],
    ['an execution that has ended', past.completed, end(1, 1)],
  ])('of %s is refused', (_, events, command) => given(task, events).when(command).thenRefused('evicted'))

  test('of the attempt that took over is recorded', () =>
    given(task, takenOver)
      .when(end(1, 2))
      .then([past.succeeded(1)]))

  test('closes the tools that are still open', () =>
    given(
      task,
      past.running,
      past.toolStarted(1, 'tool-1'),
      past.toolStarted(1, 'tool-2'),
      ToolFinished.of({ ...closed(1, 'tool-1').data, ok: true, durationMs: 12 }, { summary: '', output: '' }),
    )
      .when(end(1, 1))
      .then([closed(1, 'tool-2'), past.succeeded(1)]))

  test('leaves no workspace that is being prepared', () =>
    expect(
      stateAfter(task, past.running, WorkspacePreparing.of({ executionId: executionId(1) }), past.broke(1)),
    ).toMatchObject({ workspace: 'none' }))

  test('leaves a prepared workspace', () =>
    expect(stateAfter(task, past.running, past.prepared, past.broke(1))).toMatchObject({
      workspace: 'ready',
    }))
})

describe('cancelling', () => {
  test('before a runner claims the execution ends it at once', () =>
    given(task, past.queued)
      .when(cancel)
      .then([past.stopped(1)]))

  test('while it runs is asked of the runner', () =>
    given(task, past.running)
      .when(cancel)
      .then([past.cancelAsked(1)]))

  test('is asked once', () => given(task, past.cancelling).when(cancel).thenNothing())

  test('a command before it starts gives the task its status back', () =>
    expect(
      stateAfter(
        task,
        past.failed,
        past.waits(2, 'command'),
        past.requested(2, 'follow_up', { kind: 'command' }),
        past.stopped(2),
      ),
    ).toMatchObject({ phase: { status: 'failed' } }))

  test('a command before it starts keeps it from ever running', () =>
    given(
      task,
      past.completed,
      past.waits(2, 'command'),
      past.requested(2, 'follow_up', { kind: 'command' }),
      past.stopped(2),
    )
      .when({
        type: 'SendMessage',
        messageId: messageId(3),
        kind: 'turn',
        agent: null,
        message: 'message 3',
        images: [],
        executionId: executionId(3),
      })
      .then([past.waits(3), past.requested(3)]))
})
