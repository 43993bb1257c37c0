/** Every form that a schema's values can take, one thing at a time: what is frozen of a version of an event. */
import { z } from 'zod'

/**
 * The fullest value first; then for each enum member, each `null` and each boolean, the fullest value with only that
 * changed. The same schema always gives the same values.
 */
export function formsOf(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodObject) return formsOfObject(Object.entries(schema.shape))
  if (schema instanceof z.ZodNullable) return [...formsOf(schema.unwrap()), null]
  if (schema instanceof z.ZodEnum) return schema.options
  if (schema instanceof z.ZodNull) return [null]
  if (schema instanceof z.ZodBoolean) return [true, false]
  if (schema instanceof z.ZodNumber) return schema.safeParse(0.25).success ? [0.25] : [1]
  if (schema instanceof z.ZodString) {
    const texts = ['text', '00000000-0000-4000-8000-000000000001', 'a'.repeat(64)]
    return [texts.find((text) => schema.safeParse(text).success)]
  }
  throw new TypeError('No event used a schema like this before.')
}

function formsOfObject(members: readonly (readonly [string, unknown])[]): readonly unknown[] {
  const forms = members.map(([name, schema]) => [name, formsOf(schema)] as const)
  const fullest = Object.fromEntries(forms.map(([name, [first]]) => [name, first]))
  const others = forms.flatMap(([name, [, ...rest]]) => rest.map((form) => ({ ...fullest, [name]: form })))
  return [fullest, ...others]
}
