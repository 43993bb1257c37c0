/** An agent's questions to a person: questions with options or text, plans to approve, permissions and forms. */
import { z } from 'zod'
import { Position } from '../kernel/event.schema.ts'
import { QuestionId, TaskId } from '../kernel/ids.schema.ts'
import { Answer, FormField, QuestionKind, QuestionOption } from '../task/questionEvents.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { Moment, Text } from './fields.schema.ts'
import { answerLength, questionRoutes } from './questions.ts'

export const ShownQuestion = z.object({
  id: QuestionId,
  executionId: z.string(),
  kind: QuestionKind,
  status: z.enum(['open', 'answered', 'withdrawn']),
  /** `null` when the question was erased; then `body` is `null` too. */
  title: z.string().nullable(),
  /** In Markdown: the plan to approve, what to permit, or a form's message; `''` for other questions. `null` when the question was erased. */
  body: z.string().nullable(),
  options: z.array(QuestionOption),
  /** The fields of a form; empty for other questions. */
  fields: z.array(FormField),
  /** For a permission: the rules that the answer 'always in this task' would add, in the agent's notation. */
  rules: z.array(z.string()),
  /** Whether an answer may contain text, alone or beside a choice. */
  allowsText: z.boolean(),
  /** Whether several options may be chosen. */
  multiple: z.boolean(),
  askedAt: Moment,
  answer: Answer.nullable(),
  answeredAt: Moment.nullable(),
  /** The id of the person who answered. */
  answeredBy: z.string().nullable(),
  /** How the agent gets the answer: at once, or with the message that starts its next turn. */
  delivery: z.enum(['agent', 'next_turn']).nullable(),
  /** Whether the agent has got the answer, other than as part of a message. */
  isDelivered: z.boolean(),
  position: Position,
  version: z.number(),
})
export type ShownQuestion = z.infer<typeof ShownQuestion>

const text = Text.max(answerLength)

/** An answer to a question. A plain string that equals the value of an option chooses this option. */
export const AnswerInput = z.union([
  text,
  z.object({
    choices: z.array(z.string().max(1_000)).max(100).optional(),
    text: text.optional(),
    values: z
      .array(z.object({ name: z.string().max(200), value: text }))
      .max(100)
      .optional(),
  }),
])
export type AnswerInput = z.infer<typeof AnswerInput>

export const listQuestions = defineRead(questionRoutes.listQuestions, {
  summary: 'What the agent has asked in this task, oldest first.',
  params: z.object({ taskId: TaskId }),
  answer: {
    questions: z.array(ShownQuestion),
    /** The revision of the task's stream up to which the list of questions is current. */
    version: z.number(),
  },
  faults: ['not_found'],
})

/** Answers a question. A second answer is refused with 409 `already_answered`, which contains the first. */
export const answerQuestion = defineWrite(questionRoutes.answerQuestion, {
  summary: 'Answers a question of the agent.',
  params: z.object({ taskId: TaskId, questionId: QuestionId }),
  body: z.object({ answer: AnswerInput }),
  answer: { question: ShownQuestion },
  faults: ['not_found', 'already_answered', 'question_withdrawn', 'queue_full'],
})
