/** GitHub's own description of its answers, as validators: parts of the description are in `tests/data/github-openapi-*.json`. */
import { Ajv, type ValidateFunction } from 'ajv'
import { readFileSync } from 'node:fs'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const read = (file: string): { ops: Record<string, Record<string, Json>>; components: Json } =>
  JSON.parse(readFileSync(new URL(`../data/${file}`, import.meta.url), 'utf8'))

/** To a JSON Schema validator, OpenAPI's `nullable` means nothing without a `type` or next to an `enum`, so it becomes a choice with `null`. */
function asJsonSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(asJsonSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const written = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, asJsonSchema(value)]))
  if (written['nullable'] !== true || ('type' in written && !('enum' in written))) return written
  const { nullable: _, ...rest } = written
  return { anyOf: [rest, { type: 'null' }] }
}

/** A validator for each answer, by names such as `GET /user 200`. */
export function githubSchemas(
  file = 'github-openapi-subset.json',
): (operation: string, status: number) => ValidateFunction {
  const description = read(file)
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    formats: {
      uri: (text: string) => URL.canParse(text),
      email: /^[^@\s]+@[^@\s]+$/,
      'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/,
      int64: { type: 'number', validate: Number.isSafeInteger },
    },
  })
  ajv.addSchema({ $id: 'github', components: asJsonSchema(description.components) })
  return (operation, status) => {
    const schema = description.ops[operation]?.[String(status)]
    if (schema === undefined) throw new Error(`GitHub does not describe ${operation} ${status}`)
    const text = JSON.stringify(asJsonSchema(schema)).replaceAll('"#/components', '"github#/components')
    return ajv.compile(JSON.parse(text))
  }
}
