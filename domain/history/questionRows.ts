/** The timeline's rows for an agent's questions and people's answers. */
import { labelOf } from '../agents.ts'
import type { TaskEventMessage } from '../api/socket.schema.ts'
import type { Answer, QuestionKind } from '../task/questionEvents.ts'
import { modeLabels, permissionOptions, planOptions } from '../task/questionOptions.ts'
import { excerpt, plainExcerpt } from './excerpt.ts'
import { plainRow, type TimelineRow } from './row.ts'

type Event<Type extends TaskEventMessage['type']> = Extract<TaskEventMessage, { type: Type }>

type QuestionEvent = Event<
  'QuestionAsked' | 'QuestionAnswered' | 'AnswerDelivered' | 'QuestionWithdrawn' | 'AgentModeChosen'
>

const asking: Readonly<Record<QuestionKind, string>> = {
  question: 'asked',
  plan: 'offered a plan',
  permission: 'asked for permission',
  form: 'asked for values',
}

const withdrawn: Readonly<Record<QuestionKind, string>> = {
  question: 'The question was withdrawn',
  plan: 'The plan was withdrawn',
  permission: 'The request for permission was withdrawn',
  form: 'The request for values was withdrawn',
}

/** The row of an event about a question; `null` for an event that does not matter to people. `asked` is the event with the question. */
export function questionRow(
  event: QuestionEvent,
  agent: string,
  asked: Event<'QuestionAsked'> | undefined,
): TimelineRow | null {
  const kind = asked?.data.kind ?? 'question'
  const row = { ...plainRow(event), kind: 'question' } as const
  switch (event.type) {
    case 'QuestionAsked': {
      const sentence = `${labelOf(agent)} ${asking[kind]}`
      return {
        ...row,
        sentence,
        begun: sentence,
        detail: kind === 'plan' ? '' : plainExcerpt(event.content?.title),
        who: { agent },
      }
    }
    case 'QuestionAnswered': {
      const { content, data } = event
      const late = data.delivery === 'next_turn' ? ', for the next turn' : ''
      const sentence = `${answering(kind, content)}${late}`
      return { ...row, sentence, begun: sentence, detail: said(asked, content), who: 'person' }
    }
    case 'AnswerDelivered': {
      if (asked?.data.executionId === event.data.executionId) return null
      const sentence = `${labelOf(agent)} got the answer after it had started again`
      return { ...row, sentence, begun: sentence, who: 'runner' }
    }
    case 'QuestionWithdrawn': {
      const sentence = withdrawn[kind]
      return { ...row, sentence, begun: sentence, outcome: 'cancelled', who: 'runner' }
    }
    case 'AgentModeChosen': {
      const sentence = 'Mode chosen'
      return {
        ...row,
        kind: 'task',
        sentence,
        begun: sentence,
        detail: modeLabels[event.data.mode],
        who: 'person',
      }
    }
  }
}

function answering(kind: QuestionKind, answer: Answer | null): string {
  const chose = (value: string) => answer?.choices.includes(value) === true
  if (kind === 'plan') {
    if (chose(planOptions.approve)) return 'Approved the plan'
    if (chose(planOptions.approveAndAsk)) return 'Approved the plan, with a question before each change'
    if (chose(planOptions.sendBack)) return 'Sent the plan back'
  }
  if (kind === 'permission') {
    if (chose(permissionOptions.allow)) return 'Allowed it'
    if (chose(permissionOptions.allowInTask)) return 'Allowed it for the whole task'
    if (chose(permissionOptions.deny)) return 'Denied it'
  }
  return 'Answered'
}

/** The answer on one line: the labels of a question's chosen options, the text, and the values of a form. */
function said(asked: Event<'QuestionAsked'> | undefined, answer: Answer | null): string {
  if (answer === null) return ''
  const { choices, text, values } = answer
  const isQuestion = asked?.data.kind !== 'plan' && asked?.data.kind !== 'permission'
  const labels = isQuestion
    ? choices.map((value) => asked?.content?.options.find((one) => one.value === value)?.label ?? value)
    : []
  const filled = values.map(({ name, value }) => `${name}: ${value}`)
  return excerpt([...labels, plainExcerpt(text), ...filled].filter((part) => part !== '').join(', '))
}
