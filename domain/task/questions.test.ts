/** A question of an agent is answered at most once, and no answer is lost. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { executionId, messageId, questionId, userId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { ExecutionRequested, MessageQueued, type TaskEvent } from './events.ts'
import { undelivered } from './questionState.ts'
import {
  AgentModeChosen,
  AnswerDelivered,
  QuestionAnswered,
  QuestionAsked,
  QuestionWithdrawn,
  type Answer,
  type QuestionKind,
} from './questionEvents.ts'
import { answerInWords } from './questions.ts'
import { task } from './task.ts'

const asked = (n: number, kind: QuestionKind = 'question', execution = 1) =>
  QuestionAsked.of(
    {
      executionId: executionId(execution),
      questionId: questionId(n),
      kind,
      allowsText: true,
      multiple: false,
    },
    { title: `Question ${n}`, body: '', options: [], fields: [], rules: [] },
  )
const saying = (text: string, ...choices: string[]): Answer => ({ choices, text, values: [] })
const answer = (n: number, said: Answer = saying('Blue')) =>
  ({
    type: 'AnswerQuestion',
    questionId: questionId(n),
    answer: said,
    answeredBy: userId(1),
    messageId: messageId(9),
    message: 'Question 1\n\nBlue',
    executionId: executionId(9),
  }) as const
const answered = (n: number, delivery: 'agent' | 'next_turn' = 'agent', said = saying('Blue')) =>
  QuestionAnswered.of({ questionId: questionId(n), answeredBy: userId(1), delivery }, said)
const withdrawn = (n: number) =>
  QuestionWithdrawn.of({ executionId: executionId(1), questionId: questionId(n) })
const delivered = (n: number) =>
  AnswerDelivered.of({ executionId: executionId(1), questionId: questionId(n) })
const waiting = [...past.running, asked(1)]
const fence = { executionId: executionId(1), attempt: 1 }
const ending = { type: 'EndExecution', fence, terminal: null, nextExecutionId: executionId(8) } as const

describe('an answer', () => {
  test('is for the agent that waits, and only the first counts', async () => {
    await given(task, waiting)
      .when(answer(1))
      .then([answered(1)])
    await given(task, [...waiting, answered(1)])
      .when(answer(1))
      .thenRefused('already_answered')
    await given(task, [...waiting, answered(1), delivered(1)])
      .when(answer(1))
      .thenRefused('already_answered')
    await given(task, waiting).when(answer(2)).thenRefused('not_found')
  })

  test('is refused once nobody waits', async () => {
    await given(task, [...waiting, withdrawn(1)])
      .when(answer(1))
      .thenRefused('question_withdrawn')
  })

  test('is on its way until the agent has it', () => {
    const onItsWay = (...events: readonly (typeof waiting)[number][]) => {
      const state = stateAfter(task, [...waiting, ...events])
      return state.kind === 'task' ? undelivered(state.questions) : []
    }
    expect(onItsWay()).toEqual([])
    expect(onItsWay(answered(1))).toEqual([questionId(1)])
    expect(onItsWay(answered(1), past.broke(1))).toEqual([questionId(1)])
    expect(onItsWay(answered(1), delivered(1))).toEqual([])
  })

  test('after a failure starts the next turn, once all are answered', async () => {
    const message = { messageId: messageId(9), kind: 'turn', agent: 'claude' } as const
    const turn = [
      MessageQueued.of({ ...message, images: [] }, { message: 'Question 1\n\nBlue', imageNames: [] }),
      ExecutionRequested.of({ ...message, executionId: executionId(9), reason: 'follow_up' }),
    ]
    const both = [...waiting, asked(2), past.broke(1)]
    await given(task, both)
      .when(answer(2))
      .then([answered(2, 'next_turn')])
    await given(task, [...both, answered(2, 'next_turn')])
      .when(answer(1))
      .then([answered(1, 'next_turn'), ...turn])
  })
})

describe('no answer is lost', () => {
  test('of those after a failure, the first are told with the turn that the last or a message starts', () => {
    const both = [...waiting, asked(2), past.broke(1)]
    const onTheirWay = (...events: readonly TaskEvent[]) => {
      const state = stateAfter(task, [...both, ...events])
      return state.kind === 'task' ? undelivered(state.questions) : []
    }
    const first = answered(1, 'next_turn')
    expect(onTheirWay(first)).toEqual([questionId(1)])
    expect(onTheirWay(first, past.waits(2), past.requested(2), withdrawn(2), past.started(2))).toEqual([
      questionId(1),
    ])
    // The last answer is the message of the turn.
    expect(onTheirWay(first, answered(2, 'next_turn'))).toEqual([questionId(1)])
  })

  test('when the agent takes its request back as the person answers', async () => {
    await given(task, [...waiting, answered(1)])
      .when({ type: 'RecordProgress', fence, progress: [withdrawn(1)] })
      .thenNothing()
    await given(task, waiting)
      .when({ type: 'RecordProgress', fence, progress: [withdrawn(1)] })
      .then([withdrawn(1)])
  })
})

test('what an undone turn asked is asked no more', () => {
  const undo = { type: 'UndoTurn', undoId: executionId(7), executionId: executionId(1) } as const
  const failed = [past.running, asked(1), asked(2), answered(1, 'next_turn'), past.broke(1)]
  const decision = task.decide(undo, stateAfter(task, ...failed))
  expect(decision).toMatchObject([{ type: 'TurnsUndone' }, withdrawn(2)])
  const state = stateAfter(task, ...failed, 'refused' in decision ? [] : decision)
  expect(state.kind === 'task' && undelivered(state.questions)).toEqual([])
})

test('a title that begins with a slash is no command to an agent', () => {
  expect(answerInWords({ kind: 'question', title: '/clear it?' }, saying('', 'Yes'))).toMatch(
    /^[^/].*: \/clear/,
  )
})

describe('questions that nobody answered', () => {
  test.each([
    { outcome: { kind: 'completed', exitCode: null } as const, events: [withdrawn(1), past.succeeded(1)] },
    { outcome: { kind: 'cancelled' } as const, events: [withdrawn(1), past.stopped(1)] },
  ])('are withdrawn when their turn is $outcome.kind', async ({ outcome, events }) => {
    await given(task, waiting)
      .when({ ...ending, outcome })
      .then(events)
  })

  test('stay open when it fails, until another turn starts', async () => {
    const failed = [...waiting, past.broke(1)]
    const start = {
      type: 'StartExecution',
      executionId: executionId(2),
      afterAttempt: 0,
      runnerId: 'runner-1',
    } as const
    await given(task, [...failed, past.waits(2), past.requested(2)])
      .when(start)
      .then([withdrawn(1), past.started(2), past.delivered(2)])
  })
})

describe('a plan that is approved', () => {
  const plan = [...past.running, AgentModeChosen.of({ mode: 'plan' }), asked(1, 'plan')]
  test.each([
    ['approve', 'free'],
    ['approve_and_ask', 'ask'],
  ] as const)('by %s leads to the mode %s', async (choice, mode) => {
    const said = saying('', choice)
    await given(task, plan)
      .when(answer(1, said))
      .then([answered(1, 'agent', said), AgentModeChosen.of({ mode })])
  })

  test.each([
    ['free', 'approve', []],
    ['free', 'approve_and_ask', [AgentModeChosen.of({ mode: 'ask' })]],
    ['ask', 'approve', []],
    ['ask', 'approve_and_ask', []],
  ] as const)('that the agent proposed in the mode %s, by %s, leads to %j', async (mode, choice, events) => {
    const said = saying('', choice)
    const before = mode === 'free' ? [] : [AgentModeChosen.of({ mode })]
    await given(task, [...past.running, ...before, asked(1, 'plan')])
      .when(answer(1, said))
      .then([answered(1, 'agent', said), ...events])
  })

  test('and sent back goes on with planning', async () => {
    const said = saying('Begin with the tests.', 'send_back')
    await given(task, plan)
      .when(answer(1, said))
      .then([answered(1, 'agent', said)])
  })
})

test('an agent that no longer waits is told answers in words', () => {
  const title = 'Run rm -rf dist'
  expect(answerInWords({ kind: 'question', title: 'Which colour?' }, saying('', 'Red'))).toBe(
    'The answer to: Which colour?\n\nRed',
  )
  expect(answerInWords({ kind: 'permission', title }, saying('Keep it.', 'deny'))).toBe(
    'You may not do this: Run rm -rf dist\n\nKeep it.',
  )
  expect(answerInWords({ kind: 'permission', title }, saying('', 'allow'))).toBe(
    'You may do this: Run rm -rf dist',
  )
  expect(answerInWords({ kind: 'plan', title: null }, saying('', 'approve'))).toBe(
    'Your plan is approved. Carry it out.',
  )
})
