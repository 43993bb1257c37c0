import { expect, test } from 'vitest'
import { executionId, questionId, userId } from '../../tests/domain/ids.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import { agentStarted, running } from '../../tests/domain/taskHistories.ts'
import type { TaskEvent } from '../task/events.ts'
import {
  AgentModeChosen,
  AnswerDelivered,
  QuestionAnswered,
  QuestionAsked,
  QuestionWithdrawn,
  type QuestionKind,
} from '../task/questionEvents.ts'
import { markersOf } from './markers.ts'
import { timelineOf } from './timeline.ts'

const options = ['red', 'blue', 'approve'].map((value) => ({
  value,
  label: value === 'red' ? 'A warm red' : value,
  description: '',
  preview: null,
}))
const asked = (kind: QuestionKind, title = 'Which **colour**?') =>
  QuestionAsked.of(
    { executionId: executionId(1), questionId: questionId(1), kind, allowsText: true, multiple: false },
    { title, body: '', options, fields: [], rules: [] },
  )
const answered = (choices: readonly string[], text = '', delivery: 'agent' | 'next_turn' = 'agent') =>
  QuestionAnswered.of(
    { questionId: questionId(1), answeredBy: userId(1), delivery },
    { choices: [...choices], text, values: [] },
  )
const delivered = (n: number) =>
  AnswerDelivered.of({ executionId: executionId(n), questionId: questionId(1) })
const withdrawn = QuestionWithdrawn.of({ executionId: executionId(1), questionId: questionId(1) })

/** Sentence and detail of the rows after the beginning of a turn. */
function told(...events: readonly TaskEvent[]) {
  const before = [...running, agentStarted(1)]
  const all = [...before, ...events].map((event, revision) => recorded(event, { revision }))
  return timelineOf(all, { person: 'Ada', repository: 'ada/site' })
    .flatMap(({ rows }) => rows)
    .filter(({ revision }) => revision >= before.length)
    .map(({ kind, sentence, detail, who }) => [kind, sentence, detail, who])
}

test('a question and its answer have rows, with the label of what was chosen', () => {
  expect(told(asked('question'), answered(['red'], 'or *pink*'), delivered(1))).toEqual([
    ['question', 'Claude asked', 'Which colour?', { agent: 'claude' }],
    ['question', 'Answered', 'A warm red, or pink', 'person'],
  ])
})

test.each<readonly [QuestionKind, string, string, string]>([
  ['plan', 'Claude offered a plan', 'approve', 'Approved the plan'],
  [
    'plan',
    'Claude offered a plan',
    'approve_and_ask',
    'Approved the plan, with a question before each change',
  ],
  ['plan', 'Claude offered a plan', 'send_back', 'Sent the plan back'],
  ['permission', 'Claude asked for permission', 'allow', 'Allowed it'],
  ['permission', 'Claude asked for permission', 'allow_in_task', 'Allowed it for the whole task'],
  ['permission', 'Claude asked for permission', 'deny', 'Denied it'],
  // An option of a question may have any value.
  ['question', 'Claude asked', 'approve', 'Answered'],
])('%s: %s, %s: %s', (kind, asking, choice, answer) => {
  expect(told(asked(kind), answered([choice])).map(([, sentence]) => sentence)).toEqual([asking, answer])
})

test('an answer for the next turn, one that a later run got, and a withdrawal say so', () => {
  expect(told(asked('question'), answered(['blue'], '', 'next_turn')).at(-1)?.[1]).toBe(
    'Answered, for the next turn',
  )
  expect(told(asked('question'), answered(['blue']), delivered(2)).at(-1)?.[1]).toBe(
    'Claude got the answer after it had started again',
  )
  expect(told(asked('plan'), withdrawn).at(-1)?.[1]).toBe('The plan was withdrawn')
})

test('a mode that was chosen has a row, and nothing of it is a marker of a failure', () => {
  expect(told(AgentModeChosen.of({ mode: 'ask' }))).toEqual([
    ['task', 'Mode chosen', 'Ask before each change', 'person'],
  ])
  const events = [...running, asked('question'), withdrawn].map((event, revision) =>
    recorded(event, { revision }),
  )
  expect(markersOf(timelineOf(events, { person: 'Ada', repository: '' })).map(({ kind }) => kind)).toEqual([
    'turn',
  ])
})
