/** What an agent asks a person while it works: questions, plans to approve, permissions and forms. */
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
  /** `null` when it was erased, as `body`. */
  title: z.string().nullable(),
  /** Markdown: of a plan the plan, of a permission the command or diff. */
  body: z.string().nullable(),
  options: z.array(QuestionOption),
  /** Of a form. */
  fields: z.array(FormField),
  /** Of a permission: what 'always in this task' allows, in the agent's notation. */
  rules: z.array(z.string()),
  /** An answer may have text, alone or beside a choice. */
  allowsText: z.boolean(),
  /** Several options may be chosen. */
  multiple: z.boolean(),
  askedAt: Moment,
  answer: Answer.nullable(),
  answeredAt: Moment.nullable(),
  /** The id of the person. */
  answeredBy: z.string().nullable(),
  /** How the agent gets the answer: at once, or with the message that starts its next turn. */
  delivery: z.enum(['agent', 'next_turn']).nullable(),
  /** An agent that waited was given the answer. */
  isDelivered: z.boolean(),
  position: Position,
  version: z.number(),
})
export type ShownQuestion = z.infer<typeof ShownQuestion>

const text = Text.max(answerLength)

/** A text is the choice of the option with that value, where there is one. */
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
    /** Revision of the task's stream that this answer includes. */
    version: z.number(),
  },
  faults: ['not_found'],
})

/** Answers a question, once. 409 `already_answered` has the answer that counts. */
export const answerQuestion = defineWrite(questionRoutes.answerQuestion, {
  summary: 'Answers a question of the agent.',
  params: z.object({ taskId: TaskId, questionId: QuestionId }),
  body: z.object({ answer: AnswerInput }),
  answer: { question: ShownQuestion },
  faults: ['not_found', 'already_answered', 'question_withdrawn', 'queue_full'],
})
