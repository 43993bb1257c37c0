/** Elicitations: an MCP server asks a person, through the agent, to fill in a form or to open a page. */
import { z } from 'zod'
import { formOptions, type Answer, type FormField } from '#domain/task/questionEvents.ts'
import { kept, option, plain } from './questions.ts'
import type { AskedQuestion } from './port.ts'

/** The fields of a form, not nested, as an MCP server describes them. */
export const ElicitationFields = z.object({
  properties: z
    .record(
      z.string(),
      z.object({
        type: z.enum(['string', 'number', 'integer', 'boolean']).default('string'),
        title: z.string().optional(),
        description: z.string().optional(),
        enum: z.array(z.string()).optional(),
        oneOf: z
          .array(z.object({ const: z.string(), title: z.string().default('') }))
          .optional()
          .catch(undefined),
      }),
    )
    .default({}),
  required: z.array(z.string()).default([]),
})
type ElicitationFields = z.infer<typeof ElicitationFields>

interface Elicitation {
  readonly server: string
  readonly message: string
  readonly url: string | undefined
  readonly fields: ElicitationFields | undefined
}

export const formAsked = ({ server, message, url, fields }: Elicitation): AskedQuestion => ({
  ...plain,
  kind: 'form',
  allowsText: false,
  title: `${server} asks`,
  body: url === undefined ? message : `${message}\n\n<${url}>`,
  options: [option(formOptions.decline, 'Decline')],
  fields: fields === undefined ? [] : formFields(fields),
})

function formFields({ properties, required }: ElicitationFields): FormField[] {
  return Object.entries(properties)
    .filter(([name]) => name.length <= kept.label)
    .map(([name, { title, description = '', type, enum: values, oneOf }]) => {
      const choices = values ?? oneOf?.map((one) => one.const)
      const meanings = oneOf?.flatMap((one) => (one.title === '' ? [] : [`${one.const}: ${one.title}`])) ?? []
      return {
        name,
        label: title ?? name,
        description: [description, meanings.join(', ')].filter((text) => text !== '').join(' '),
        type: choices === undefined ? (type === 'string' ? 'text' : type) : 'choice',
        required: required.includes(name),
        choices: choices ?? [],
      }
    })
}

/** The person's answer as the result of an MCP elicitation. */
export function elicited(fields: ElicitationFields | undefined, answer: Answer | undefined): object {
  if (answer === undefined) return { action: 'cancel' }
  const { choices, values } = answer
  if (choices.includes(formOptions.decline)) return { action: 'decline' }
  const content = values.map(
    ({ name, value }) => [name, typed(fields?.properties[name]?.type, value)] as const,
  )
  return { action: 'accept', content: Object.fromEntries(content) }
}

function typed(type: string | undefined, value: string): string | number | boolean {
  if (type === 'boolean') return value === 'true'
  return type === 'number' || type === 'integer' ? Number(value) : value
}
