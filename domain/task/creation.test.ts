/** A task starts with its description as the first message, and can be renamed or deleted whatever is running. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { executionId, messageId, projectId, taskId, userId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { ModelChosen, TaskDeleted, TaskUpdated } from './events.ts'
import { task } from './task.ts'

const createTask = {
  type: 'CreateTask',
  taskId: taskId(1),
  ownerId: userId(1),
  projectId: projectId(1),
  agent: 'claude',
  codexModel: 'o4-mini',
  title: past.title,
  description: past.description,
  branch: 'main',
  messageId: messageId(1),
  executionId: executionId(1),
  images: [],
} as const

describe('creation', () => {
  test('queues the description as the first message and asks for its execution', () =>
    given(task).when(createTask).then(past.queued))

  test('gives the first message to the chosen agent', () =>
    expect(stateAfter(task, past.queued)).toMatchObject({
      agent: 'claude',
      phase: {
        status: 'queued',
        execution: { messageId: messageId(1), agent: 'claude', kind: 'turn', attempt: 0 },
      },
      queue: [{ messageId: messageId(1) }],
    }))

  test('is not begun with a command of the agent’s own terminal', () =>
    expect(task.decide({ ...createTask, description: '/clear' }, stateAfter(task, []))).toMatchObject({
      refused: 'invalid_input',
      field: 'description',
    }))

  test('happens once', () => given(task, past.queued).when(createTask).thenRefused('already_exists'))

  test('does not take up the id of a deleted task', () =>
    given(task, past.deleted).when(createTask).thenRefused('already_exists'))
})

describe('update', () => {
  test('keeps what is not named', () =>
    given(task, past.running)
      .when({ type: 'UpdateTask', title: 'Greet' })
      .then([TaskUpdated.of({}, { title: 'Greet', description: past.description })]))

  test('to what is true already is nothing', () =>
    given(task, past.running).when({ type: 'UpdateTask', title: past.title }).thenNothing())

  test('of the model says for which agent it was chosen, and takes it back', () => {
    const opus = ModelChosen.of({ agent: 'claude' }, { model: 'opus' })
    const auto = ModelChosen.of({ agent: 'cursor' }, { model: 'auto' })
    given(task, past.running)
      .when({ type: 'UpdateTask', model: { agent: null, name: 'opus' } })
      .then([opus])
    given(task, past.running, opus)
      .when({ type: 'UpdateTask', model: { agent: 'claude', name: 'opus' } })
      .thenNothing()
    given(task, past.running, opus)
      .when({ type: 'UpdateTask', model: { agent: 'cursor', name: 'auto' } })
      .then([auto])
    given(task, past.completed, opus, past.agentStarted(1, 'cursor'))
      .when({ type: 'UpdateTask', model: { agent: null, name: null } })
      .then([ModelChosen.of({ agent: 'cursor' }, { model: null })])
  })

  test('of the effort keeps the model of its agent, and none of another', () => {
    const chosen = ModelChosen.of({ agent: 'claude', effort: 'high' }, { model: 'opus' })
    given(task, past.running, ModelChosen.of({ agent: 'claude' }, { model: 'opus' }))
      .when({ type: 'UpdateTask', model: { agent: null, effort: 'high' } })
      .then([chosen])
    given(task, past.running, chosen)
      .when({ type: 'UpdateTask', model: { agent: null, name: 'sonnet' } })
      .then([ModelChosen.of({ agent: 'claude', effort: 'high' }, { model: 'sonnet' })])
    given(task, past.running, chosen)
      .when({ type: 'UpdateTask', model: { agent: null, effort: null } })
      .then([ModelChosen.of({ agent: 'claude' }, { model: 'opus' })])
    given(task, past.running, chosen)
      .when({ type: 'UpdateTask', model: { agent: 'codex', effort: 'low' } })
      .then([ModelChosen.of({ agent: 'codex', effort: 'low' }, { model: null })])
  })

  test('of the model and the words is both', () =>
    given(task, past.running)
      .when({ type: 'UpdateTask', title: 'Greet', model: { agent: 'claude', name: 'opus' } })
      .then([
        TaskUpdated.of({}, { title: 'Greet', description: past.description }),
        ModelChosen.of({ agent: 'claude' }, { model: 'opus' }),
      ]))

  test('does not reach the message that the agent was given', () =>
    given(task, past.completed, TaskUpdated.of({}, { title: 'Greet', description: 'Other words' }))
      .when({ type: 'RetryTask', executionId: executionId(2) })
      .then([past.requested(2, 'retry', { message: 1 })]))
})

describe('deletion', () => {
  test.each([
    ['queued', past.queued],
    ['running', past.running],
    ['completed', past.completed],
  ])('of a %s task leaves nothing to be asked', (_, events) =>
    expect(stateAfter(task, events, TaskDeleted.of({}))).toEqual({ kind: 'deleted', ownerId: userId(1) }),
  )

  test('refuses what a runner still reports', () =>
    given(task, past.running, TaskDeleted.of({}))
      .when({
        type: 'EndExecution',
        fence: { executionId: executionId(1), attempt: 1 },
        outcome: { kind: 'completed', exitCode: 0 },
        terminal: null,
        nextExecutionId: executionId(2),
      })
      .thenRefused('not_found', 'There is no such task.'))
})
