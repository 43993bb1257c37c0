/** Events about the questions of an agent to a person, their outcomes, and how freely the agent works. */
import { z } from 'zod'
import { agentModes } from '../agents/capabilities.ts'
import { event, fact } from '../kernel/event.schema.ts'
import { ExecutionId, QuestionId, UserId } from '../kernel/ids.schema.ts'
import { questionKinds } from './questionOptions.ts'

export { formOptions, permissionOptions, planOptions } from './questionOptions.ts'

export const QuestionKind = z.enum(questionKinds)
export type QuestionKind = z.infer<typeof QuestionKind>

export const AgentMode = z.enum(agentModes)
export type AgentMode = z.infer<typeof AgentMode>

/** An option that a person may choose; an answer contains its `value`. */
export const QuestionOption = z.object({
  value: z.string(),
  label: z.string(),
  description: z.string(),
  /** The result of choosing the option, as Markdown. */
  preview: z.string().nullable(),
})
export type QuestionOption = z.infer<typeof QuestionOption>

export const FormField = z.object({
  name: z.string(),
  label: z.string(),
  description: z.string(),
  type: z.enum(['text', 'number', 'integer', 'boolean', 'choice']),
  required: z.boolean(),
  /** The values that may be chosen, for a field of the kind `choice`. */
  choices: z.array(z.string()),
})
export type FormField = z.infer<typeof FormField>

/** An answer. `choices` has the values of chosen options; `values` has those of a form's fields, where a box has `true` or `false`. */
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
    /** Whether several options may be chosen. */
    multiple: z.boolean(),
  }),
  content: z.object({
    title: z.string(),
    /** The content as Markdown: the plan of a plan, or the command or diff of a permission. */
    body: z.string(),
    options: z.array(QuestionOption),
    fields: z.array(FormField),
    /** The rules that 'always in this task' allows, in the agent's notation. */
    rules: z.array(z.string()),
  }),
})

/**
 * A person answered. `delivery` says how the agent gets the answer: at once, since an agent waits (`agent`), or with the message that starts the next
 * turn.
 */
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
