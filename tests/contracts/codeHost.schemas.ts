/** GitHub's own description of its answers, as checks: `tests/data/github-openapi-subset.json`. */
import { Ajv, type ValidateFunction } from 'ajv'
import { readFileSync } from 'node:fs'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const description: { ops: Record<string, Record<string, Json>>; components: Json } = JSON.parse(
  readFileSync(new URL('../data/github-openapi-subset.json', import.meta.url), 'utf8'),
)

/** OpenAPI's `nullable` beside no `type` says nothing to a JSON Schema validator: it becomes a choice. */
function asJsonSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(asJsonSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const read = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, asJsonSchema(value)]))
  if (read['nullable'] !== true || 'type' in read) return read
  const { nullable: _, ...rest } = read
  return { anyOf: [rest, { type: 'null' }] }
}

/** One validator a schema: `GET /user 200`. */
export function githubSchemas(): (operation: string, status: number) => ValidateFunction {
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
