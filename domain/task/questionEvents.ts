/** Events about an agent's questions to a person, the answers, and the mode in which the agent works. */
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
  /** A preview, in Markdown, of the result of choosing the option. */
  preview: z.string().nullable(),
})
export type QuestionOption = z.infer<typeof QuestionOption>

export const FormField = z.object({
  name: z.string(),
  label: z.string(),
  description: z.string(),
  type: z.enum(['text', 'number', 'integer', 'boolean', 'choice']),
  required: z.boolean(),
  /** The values that a person may choose in a field of the type `choice`. */
  choices: z.array(z.string()),
})
export type FormField = z.infer<typeof FormField>

/** An answer. `choices` has the values of the chosen options. `values` has the values of a form's fields; a boolean field has `true` or `false`. */
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
    /** In Markdown: the plan to approve, what to permit, or a form's message; `''` for other questions. */
    body: z.string(),
    options: z.array(QuestionOption),
    fields: z.array(FormField),
    /** The rules that the answer 'always in this task' would add, in the agent's notation. */
    rules: z.array(z.string()),
  }),
})

/**
 * A person answered a question. `delivery` says how the agent gets the answer. `agent`: at once, because the agent waits. `next_turn`: with the
 * message that starts the next turn.
 */
export const QuestionAnswered = event('QuestionAnswered', 1, {
  data: z.object({
    questionId: QuestionId,
    answeredBy: UserId,
    delivery: z.enum(['agent', 'next_turn']),
  }),
  content: Answer,
})

/** The agent got the answer, in the run in which it asked or in a later run. */
export const AnswerDelivered = fact('AnswerDelivered', { executionId: ExecutionId, questionId: QuestionId })

/** The question was withdrawn, because no agent needs an answer any more. */
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
