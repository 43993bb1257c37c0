/** Values that a schema takes, made by fast-check from the schema itself: only what the schemas of events are built of. */
import * as fc from 'fast-check'
import { z } from 'zod'

/** Any value of the schema. Throws for a kind of schema that no event uses yet: teach it here. */
export function arbitraryOf<S extends z.ZodType>(schema: S): fc.Arbitrary<z.output<S>> {
  // The parse gives the type, and holds that this generator makes what the schema takes.
  return valuesOf(schema).map((value) => schema.parse(value))
}

function valuesOf(schema: unknown): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).map(([name, member]) => [name, valuesOf(member)] as const)
    const requiredKeys = members
      .map(([name]) => name)
      .filter((name) => !(schema.shape[name] instanceof z.ZodOptional))
    return fc.record(Object.fromEntries(members), { requiredKeys })
  }
  if (schema instanceof z.ZodArray) return fc.array(valuesOf(schema.element), { maxLength: 5 })
  if (schema instanceof z.ZodTuple) return fc.tuple(...schema.def.items.map(valuesOf))
  if (schema instanceof z.ZodDiscriminatedUnion) return fc.oneof(...schema.options.map(valuesOf))
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values)
  if (schema instanceof z.ZodOptional) return valuesOf(schema.unwrap())
  if (schema instanceof z.ZodNullable) return fc.option(valuesOf(schema.unwrap()))
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options)
  if (schema instanceof z.ZodNull) return fc.constant(null)
  if (schema instanceof z.ZodBoolean) return fc.boolean()
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return texts(schema)
  if (schema instanceof z.ZodNumber) return numbers(schema)
  throw new TypeError('No event used a schema like this before.')
}

/** A text that must look like something is a UUID, a hash or a moment; any other is any text, as long as it may be. */
function texts(schema: z.ZodString | z.ZodStringFormat): fc.Arbitrary<string> {
  const takes = (text: string) => schema.safeParse(text).success
  const any = fc.string({ unit: 'binary', maxLength: Math.min(40, schema.maxLength ?? 40) })
  if (takes('') && takes('any text')) return any
  const shaped = [
    fc.uuid(),
    fc.stringMatching(/^[0-9a-f]{40}$/),
    fc.stringMatching(/^[0-9a-f]{64}$/),
    fc.stringMatching(/^[0-9a-f]{128}$/),
    fc.stringMatching(/^[0-9a-f]{8}$/),
    fc
      .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((at) => at.toISOString()),
    any.filter((text) => text !== ''),
  ]
  const fitting = shaped.filter((form) => fc.sample(form, { numRuns: 5, seed: 1 }).every(takes))
  if (fitting.length === 0) throw new TypeError('No event used a text like this before.')
  return fc.oneof(...fitting)
}

/** JSON knows no minus zero. */
function numbers(schema: z.ZodNumber): fc.Arbitrary<number> {
  const min = schema.minValue ?? undefined
  const max = schema.maxValue ?? undefined
  const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
  const any = schema.safeParse(0.5).success
    ? fc.double({ noNaN: true, noDefaultInfinity: true, ...bounds })
    : fc.integer(bounds)
  return any.map((number) => (number === 0 ? 0 : number)).filter((number) => schema.safeParse(number).success)
}
