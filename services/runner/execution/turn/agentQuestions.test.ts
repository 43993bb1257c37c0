/** The agent of a turn gets each answer once, and no record of its questions shows a secret. */
import { describe, expect, test } from 'vitest'
import { executionId, questionId, taskId, userId } from '../../../../tests/domain/ids.ts'
import type { ProgressEvent } from '#domain/task/events.ts'
import { deliveryQueue } from '../control.ts'
import type { AskedQuestion } from '../../agents/port.ts'
import { agentQuestions } from './agentQuestions.ts'

const secret = 'hunter2hunter2'
const question: AskedQuestion = {
  kind: 'form',
  allowsText: true,
  multiple: false,
  title: `Title ${secret}`,
  body: `Body ${secret}`,
  options: [{ value: `v ${secret}`, label: `l ${secret}`, description: `d ${secret}`, preview: secret }],
  fields: [
    { name: secret, label: secret, description: secret, type: 'choice', required: false, choices: [secret] },
  ],
  rules: [`Bash(curl ${secret})`],
}

function openTurn({ isAlive = true, beforeAnswer = async () => undefined as unknown } = {}) {
  const recorded: ProgressEvent[] = []
  const told: string[] = []
  const waiting: boolean[] = []
  const answers = deliveryQueue()
  let made = 0
  const unused = () => {
    throw new Error('Questions do not ask for this.')
  }
  const answer = { choices: ['Blue'], text: '', values: [] }
  const questions = agentQuestions(
    {
      documents: {
        now: async () => {
          await beforeAnswer()
          return { answer, answeredBy: userId(1) } as never
        },
      } as never,
      logger: { warn: unused } as never,
      ids: { uuid: () => questionId((made += 1)) },
    },
    {
      run: {
        fence: { executionId: executionId(1), attempt: 1 },
        answers,
        reporter: {
          report: async (...events) => void recorded.push(...events),
          delivered: unused,
          end: unused,
        },
      },
      taskId: taskId(1),
      process: { answer: (requestId) => isAlive && told.push(requestId) > 0 },
      redaction: {
        text: async (text) => text.replaceAll(secret, '[redacted]'),
        stream: unused,
        diff: unused,
      },
      onWaiting: (isWaiting) => void waiting.push(isWaiting),
    },
  )
  const types = () => recorded.map(({ type }) => type)
  return { questions, answers, recorded, types, told, waiting }
}
const ask = { type: 'question', requestId: 'r', asked: [question] } as const
const settled = () => new Promise((resolve) => setTimeout(resolve, 10))

test('no part of a question shows a secret', async () => {
  const { questions, recorded } = openTurn()
  await questions.hear(ask)
  expect(JSON.stringify(recorded)).not.toContain(secret)
})

test('an answer counts as delivered once the model has seen it', async () => {
  const { questions, answers, types, told } = openTurn()
  await questions.hear(ask)
  answers.offer([questionId(1)])
  await settled()
  expect(told).toEqual(['r'])
  expect(types()).toEqual(['QuestionAsked'])
  await questions.seen()
  await questions.seen()
  expect(types()).toEqual(['QuestionAsked', 'AnswerDelivered'])
})

test('an answer for an agent that has died stays on its way', async () => {
  const { questions, answers, types } = openTurn({ isAlive: false })
  await questions.hear(ask)
  answers.offer([questionId(1)])
  await settled()
  await questions.seen()
  expect(types()).toEqual(['QuestionAsked'])
})

test('a turn that is over starts no limit of time again', async () => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const { questions, answers, waiting } = openTurn({ beforeAnswer: () => held })
  await questions.hear(ask)
  answers.offer([questionId(1)])
  await settled()
  questions.stop()
  release()
  await settled()
  expect(waiting).toEqual([true])
})

describe('questions beyond a limit are declined, and the person is told once:', () => {
  const fifty = (n: number) => ({
    ...ask,
    requestId: `r${n}`,
    asked: Array.from({ length: 50 }, () => question),
  })

  test('100 at once', async () => {
    const { questions, types, told } = openTurn()
    for (const n of [1, 2, 3, 4]) await questions.hear(fifty(n))
    expect(told).toEqual(['r3', 'r4'])
    expect(types().slice(99)).toEqual(['QuestionAsked', 'MessagePosted'])
  })

  test('500 in a turn, however many were answered', async () => {
    const { questions, answers, types, told } = openTurn()
    for (let n = 1; n <= 10; n++) {
      await questions.hear(fifty(n))
      answers.offer(Array.from({ length: 50 }, (_, index) => questionId(50 * n - index)))
      await settled()
    }
    expect(types().filter((type) => type !== 'QuestionAsked')).toEqual([])
    await questions.hear(fifty(11))
    await questions.hear(fifty(12))
    expect(told.slice(9)).toEqual(['r10', 'r11', 'r12'])
    expect(types().slice(499)).toEqual(['QuestionAsked', 'MessagePosted'])
  })
})
