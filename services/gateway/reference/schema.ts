/** A JSON schema as lines of a page: what a value is, and what its members are. */
import type { z } from 'zod'
import { html, type Html } from '#platform/http/html.ts'

type Schema = z.core.JSONSchema.JSONSchema

/** `{}`, which is anything, for what our schemas do not have: a boolean for a schema, and tuples. */
const schemaOf = (member: Schema['items']): Schema =>
  typeof member === 'object' && !Array.isArray(member) ? member : {}

/** The schema as HTML; named ones are links to their place on the page. */
export function schemaLines(schema: Schema): Html {
  const members = Object.entries(schema.properties ?? {})
  if (members.length === 0) return html`<span class="type">${word(schema)}</span>${inner(schema)}`
  return html`<ul class="members">
    ${members.map(
      ([name, member]) =>
        html`<li>
          <code>${name}</code> ${!schema.required?.includes(name) && html`<em>optional</em>`}
          ${schemaLines(schemaOf(member))}
        </li>`,
    )}
  </ul>`
}

/** Nested schemas that have members of their own. */
function inner({ items, anyOf, oneOf }: Schema): readonly Html[] {
  return [schemaOf(items), ...(anyOf ?? oneOf ?? [])].filter(({ properties }) => properties).map(schemaLines)
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
    return html`list of
    ${word(schemaOf(items))}${schema.maxItems !== undefined && `, at most ${schema.maxItems}`}`
  const base = [type ?? 'anything'].flat().join(' or ')
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
