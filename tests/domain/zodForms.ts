/** All forms that a schema's values can have, varying one thing at a time: these are frozen for each version of an event. */
import { z } from 'zod'

/**
 * The fullest value first. Then, for each enum member, each `null`, each boolean, each empty list, each bound, each form of a union and of a hash,
 * the fullest value with only this changed. The same schema always gives the same values.
 */
export function formsOf(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodObject) return formsOfObject(Object.entries(schema.shape))
  if (schema instanceof z.ZodArray) return [formsOf(schema.element), []]
  if (schema instanceof z.ZodTuple) {
    const places = schema.def.items.map((item, index) => [String(index), item] as const)
    return formsOfObject(places).map((form) => Object.values(form))
  }
  if (schema instanceof z.ZodDiscriminatedUnion) return schema.options.flatMap((option) => formsOf(option))
  if (schema instanceof z.ZodLiteral) return [...schema.values]
  // Absent comes first: so a kind that gains a member keeps its frozen forms.
  if (schema instanceof z.ZodOptional) return [undefined, ...formsOf(schema.unwrap())]
  if (schema instanceof z.ZodNullable) return [...formsOf(schema.unwrap()), null]
  if (schema instanceof z.ZodEnum) return schema.options
  if (schema instanceof z.ZodNull) return [null]
  if (schema instanceof z.ZodBoolean) return [true, false]
  if (schema instanceof z.ZodNumber) return formsOfNumber(schema)
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return formsOfText(schema)
  throw new TypeError('No event used a schema like this before.')
}

function formsOfNumber(schema: z.ZodNumber): readonly number[] {
  const takes = (number: number) => schema.safeParse(number).success
  if (takes(0.25)) return [0.25]
  return takes(0) && !takes(-1) ? [1, 0] : [1]
}

/** For a free text: a sample, and the longest if there is a limit. For others: each format that the schema accepts. */
function formsOfText(schema: z.ZodString | z.ZodStringFormat): readonly string[] {
  const takes = (text: string) => schema.safeParse(text).success
  if (takes('text')) return schema.maxLength === null ? ['text'] : ['text', 'x'.repeat(schema.maxLength)]
  const shapes = [
    '00000000-0000-4000-8000-000000000001',
    '2026-01-01T00:00:00.000Z',
    'a'.repeat(40),
    'a'.repeat(64),
    'a'.repeat(128),
    'a'.repeat(8),
  ]
  const taken = shapes.filter(takes)
  if (taken.length === 0) throw new TypeError('No event used a text like this before.')
  return taken
}

function formsOfObject(
  members: readonly (readonly [string, unknown])[],
): readonly Readonly<Record<string, unknown>>[] {
  const forms = members.map(([name, schema]) => [name, formsOf(schema)] as const)
  const fullest = Object.fromEntries(
    forms.flatMap(([name, [first]]) => (first === undefined ? [] : [[name, first] as const])),
  )
  const others = forms.flatMap(([name, [, ...rest]]) => rest.map((form) => ({ ...fullest, [name]: form })))
  return [fullest, ...others]
}
