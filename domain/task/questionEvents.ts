/** What an agent asks a person while it works, what becomes of it, and how freely the agent works. */
import { z } from 'zod'
import { event, fact } from '../kernel/event.schema.ts'
import { ExecutionId, QuestionId, UserId } from '../kernel/ids.schema.ts'
import { agentModes, questionKinds } from './questionOptions.ts'

export { agentModes, formOptions, permissionOptions, planOptions } from './questionOptions.ts'

export const QuestionKind = z.enum(questionKinds)
export type QuestionKind = z.infer<typeof QuestionKind>

export const AgentMode = z.enum(agentModes)
export type AgentMode = z.infer<typeof AgentMode>

/** What a person may choose; `value` stands in the answer. */
export const QuestionOption = z.object({
  value: z.string(),
  label: z.string(),
  description: z.string(),
  /** What the option would lead to, as Markdown. */
  preview: z.string().nullable(),
})
export type QuestionOption = z.infer<typeof QuestionOption>

export const FormField = z.object({
  name: z.string(),
  label: z.string(),
  description: z.string(),
  type: z.enum(['text', 'number', 'integer', 'boolean', 'choice']),
  required: z.boolean(),
  /** Of a `choice`. */
  choices: z.array(z.string()),
})
export type FormField = z.infer<typeof FormField>

/** Choices are values of options; `values` are those of a form, `true` or `false` for a box. */
export const Answer = z.object({
  choices: z.array(z.string()),
  text: z.string(),
  values: z.array(z.object({ name: z.string(), value: z.string() })),
})
export type Answer = z.infer<typeof Answer>

export const QuestionAsked = event('QuestionAsked', 1, {
  data: z.object({
    executionId: ExecutionId,
    questionId: QuestionId,
    kind: QuestionKind,
    allowsText: z.boolean(),
    /** Several options may be chosen. */
    multiple: z.boolean(),
  }),
  content: z.object({
    title: z.string(),
    /** Markdown: of a plan the plan, of a permission the command or diff. */
    body: z.string(),
    options: z.array(QuestionOption),
    fields: z.array(FormField),
    /** What 'always in this task' allows, in the agent's notation. */
    rules: z.array(z.string()),
  }),
})

/** `delivery`: to the agent that waits, or with the message that starts the next turn. */
export const QuestionAnswered = event('QuestionAnswered', 1, {
  data: z.object({
    questionId: QuestionId,
    answeredBy: UserId,
    delivery: z.enum(['agent', 'next_turn']),
  }),
  content: Answer,
})

/** The agent got the answer, in the run that asked or in a later one. */
export const AnswerDelivered = fact('AnswerDelivered', { executionId: ExecutionId, questionId: QuestionId })

/** Nobody waits for an answer any more. */
export const QuestionWithdrawn = fact('QuestionWithdrawn', {
  executionId: ExecutionId,
  questionId: QuestionId,
})

export const AgentModeChosen = fact('AgentModeChosen', { mode: AgentMode })

export const questionEvents = [
  QuestionAsked,
  QuestionAnswered,
  AnswerDelivered,
  QuestionWithdrawn,
  AgentModeChosen,
] as const
