/** A JSON schema as lines of a page: what a value is, and what its members are. */
import { z } from 'zod'
import { html, type Html } from '#platform/http/html.ts'

/** As much of a JSON schema as ours have. */
const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    default: z.unknown().optional(),
    format: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxItems: z.number().optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), Schema).optional(),
    items: Schema.optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
  }),
)
interface Schema {
  readonly $ref?: string | undefined
  readonly type?: string | readonly string[] | undefined
  readonly const?: unknown
  readonly enum?: readonly unknown[] | undefined
  readonly default?: unknown
  readonly format?: string | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly maxItems?: number | undefined
  readonly required?: readonly string[] | undefined
  readonly properties?: Readonly<Record<string, Schema>> | undefined
  readonly items?: Schema | undefined
  readonly anyOf?: readonly Schema[] | undefined
  readonly oneOf?: readonly Schema[] | undefined
}

/** The schema as HTML; named ones are links to their place on the page. */
export function schemaLines(schema: unknown): Html {
  return lines(Schema.parse(schema))
}

function lines(schema: Schema): Html {
  const members = Object.entries(schema.properties ?? {})
  if (members.length === 0) return html`<span class="type">${word(schema)}</span>${inner(schema)}`
  return html`<ul class="members">
    ${members.map(
      ([name, member]) =>
        html`<li>
          <code>${name}</code> ${!schema.required?.includes(name) && html`<em>optional</em>`} ${lines(member)}
        </li>`,
    )}
  </ul>`
}

/** Nested schemas that have members of their own. */
function inner({ items, anyOf, oneOf }: Schema): readonly Html[] {
  if (items?.properties) return [lines(items)]
  return (anyOf ?? oneOf ?? []).filter(({ properties }) => properties).map(lines)
}

function word(schema: Schema): Html {
  const { $ref, type, items, anyOf, oneOf } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return either(schema.enum.map(literal))
  const choices = anyOf ?? oneOf
  if (choices) return either(choices.map(word))
  if (items)
    return html`list of ${word(items)}${schema.maxItems !== undefined && `, at most ${schema.maxItems}`}`
  const base = typeof type === 'string' ? type : (type ?? ['anything']).join(' or ')
  return html`${[schema.format ?? base, ...boundsOf(schema)].join(', ')}`
}

function boundsOf(schema: Schema): readonly string[] {
  const { minLength, maxLength, minimum, maximum } = schema
  return [
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? [] : [`from ${minimum}`]),
    ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [`to ${maximum}`]),
    ...(schema.default === undefined ? [] : [`${JSON.stringify(schema.default)} unless told`]),
  ]
}

const either = (choices: readonly Html[]): Html =>
  html`${choices.map((choice, index) => (index === 0 ? choice : html` or ${choice}`))}`

const literal = (value: unknown): Html => html`<code>${JSON.stringify(value)}</code>`
