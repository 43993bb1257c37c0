/** The agent's questions in the state of a task. */
import type { EventOf } from '../kernel/event.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import type { TaskEvent } from './events.ts'
import type { AgentMode, questionEvents, QuestionKind } from './questionEvents.ts'

/** An open question, or an answered question whose answer the agent has not got yet. */
export interface PendingQuestion {
  readonly executionId: string
  readonly kind: QuestionKind
  readonly status: 'open' | 'answered'
}

export interface TaskQuestions {
  readonly mode: AgentMode
  readonly pending: ReadonlyMap<string, PendingQuestion>
  /** Questions that can no longer change. `answered`: the agent has the answer, a message contains it, or an undo took the answer back. */
  readonly settled: ReadonlyMap<string, 'answered' | 'withdrawn'>
}

export const noQuestions: TaskQuestions = { mode: 'free', pending: new Map(), settled: new Map() }

type QuestionEvent = RecordedOf<EventOf<(typeof questionEvents)[number]>>

const types: ReadonlySet<string> = new Set<QuestionEvent['type']>([
  'QuestionAsked',
  'QuestionAnswered',
  'AnswerDelivered',
  'QuestionWithdrawn',
  'AgentModeChosen',
])

export function isOfQuestions(event: RecordedOf<TaskEvent>): event is QuestionEvent {
  return types.has(event.type)
}

export function withQuestions(questions: TaskQuestions, event: QuestionEvent): TaskQuestions {
  switch (event.type) {
    case 'QuestionAsked': {
      const { questionId, executionId, kind } = event.data
      return pending(questions, questionId, { executionId, kind, status: 'open' })
    }
    case 'QuestionAnswered': {
      const { questionId, delivery } = event.data
      const question = questions.pending.get(questionId)
      // After a failed run, the answer to its last open question is in the message that starts the next turn, so this question is settled.
      return question && (delivery === 'agent' || !isLastOpen(questions, questionId))
        ? pending(questions, questionId, { ...question, status: 'answered' })
        : settled(questions, questionId, 'answered')
    }
    case 'AnswerDelivered':
      return settled(questions, event.data.questionId, 'answered')
    case 'QuestionWithdrawn':
      return settled(questions, event.data.questionId, 'withdrawn')
    case 'AgentModeChosen':
      return { ...questions, mode: event.data.mode }
  }
}

function pending(questions: TaskQuestions, id: string, question: PendingQuestion): TaskQuestions {
  return { ...questions, pending: new Map([...questions.pending, [id, question]]) }
}

function settled(questions: TaskQuestions, id: string, as: 'answered' | 'withdrawn'): TaskQuestions {
  const left = new Map([...questions.pending].filter(([one]) => one !== id))
  return { ...questions, pending: left, settled: new Map([...questions.settled, [id, as]]) }
}

/** The questions after an undo: no question is pending, because the undo also takes back questions and answers. */
export function withoutPending(questions: TaskQuestions): TaskQuestions {
  return [...questions.pending].reduce((rest, [id]) => settled(rest, id, 'answered'), questions)
}

/** Whether no question except `questionId` is open. */
export function isLastOpen({ pending: questions }: TaskQuestions, questionId: string): boolean {
  return [...questions].every(([id, { status }]) => id === questionId || status !== 'open')
}

/** The ids of answered questions whose answer the agent has not got yet. */
export function undelivered({ pending: questions }: TaskQuestions): readonly string[] {
  return [...questions].flatMap(([id, { status }]) => (status === 'answered' ? [id] : []))
}
