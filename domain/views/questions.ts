/** Questions of agents: one document per question. */
import type { ShownQuestion } from '../api/questions.schema.ts'
import { sortKey, type RecordedOf } from '../kernel/event.ts'
import type { TaskEvent } from '../task/events.ts'
import { goneWithTask, parseTask } from './chat.ts'
import { isOneOf, type View } from './view.ts'

export interface QuestionDocument extends Omit<ShownQuestion, 'id'> {
  /** The id of the task and the id of the question. */
  readonly id: string
  readonly questionId: string
  readonly task: string
  readonly order: string
}

const ofQuestion = ['QuestionAsked', 'QuestionAnswered', 'AnswerDelivered', 'QuestionWithdrawn'] as const

export const questionsView: View<QuestionDocument> = {
  collection: 'questions',
  version: 1,
  streams: ['task'],
  types: [...ofQuestion, 'TaskDeleted'],
  indexes: [
    ['task', 'order'],
    ['task', 'status', 'order'],
  ],
  touches: (event) =>
    isOneOf(ofQuestion, event) ? [questionDocumentId(parseTask(event.stream), event.data.questionId)] : [],
  goneWith: goneWithTask,
  evolve: (document, event, id) => {
    switch (event.type) {
      case 'QuestionAsked':
        return document ?? asked(event, id)
      case 'QuestionAnswered': {
        const { answeredBy, delivery } = event.data
        const answered = { status: 'answered', answer: event.content, answeredAt: event.at } as const
        return document && { ...document, ...answered, answeredBy, delivery, version: event.revision }
      }
      case 'AnswerDelivered':
        return document && { ...document, isDelivered: true, version: event.revision }
      case 'QuestionWithdrawn':
        return document && { ...document, status: 'withdrawn', version: event.revision }
      default:
        return document
    }
  },
}

export function questionDocumentId(taskId: string, questionId: string): string {
  return `${taskId}:${questionId}`
}

type Asked = Extract<RecordedOf<TaskEvent>, { type: 'QuestionAsked' }>

function asked({ data, content, at, position, revision, stream }: Asked, id: string): QuestionDocument {
  const { questionId, executionId, kind, allowsText, multiple } = data
  return {
    id,
    questionId,
    task: parseTask(stream),
    executionId,
    kind,
    status: 'open',
    title: content?.title ?? null,
    body: content?.body ?? null,
    options: content?.options ?? [],
    fields: content?.fields ?? [],
    allowsText,
    multiple,
    askedAt: at,
    answer: null,
    answeredAt: null,
    answeredBy: null,
    delivery: null,
    isDelivered: false,
    rules: content?.rules ?? [],
    order: sortKey(position),
    position,
    version: revision,
  }
}

/** The question as the API shows it. */
export function shownQuestion({
  questionId: id,
  task: _task,
  order: _order,
  ...shown
}: QuestionDocument): ShownQuestion {
  return { ...shown, id }
}
