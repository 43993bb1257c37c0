/** Kubernetes' own description of the kinds that `deploy/kubernetes` uses, as validators that refuse unknown fields, as the cluster does when asked. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { z } from 'zod'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const Description = z.object({
  info: z.record(z.string(), z.string()),
  /** The definition of each kind, by `<apiVersion>/<kind>`. */
  kinds: z.record(z.string(), z.string()),
  definitions: z.record(z.string(), z.json()),
})

const file = new URL('../data/kubernetes-openapi-subset.json', import.meta.url)

/** What a JSON Schema validator needs to be told: unknown fields are faults, and some strings may be numbers too. */
function asJsonSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(asJsonSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  if (schema['format'] === 'int-or-string') return { type: ['string', 'integer'] }
  const written = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, asJsonSchema(value)]))
  const isClosed = typeof schema['properties'] === 'object' && schema['additionalProperties'] === undefined
  return isClosed ? { ...written, additionalProperties: false } : written
}

/** Returns a function that lists what is wrong with a manifest: nothing, when the cluster would take it. */
export function kubernetesFaults(): (manifest: {
  readonly apiVersion: string
  readonly kind: string
  readonly [field: string]: unknown
}) => readonly string[] {
  const { kinds, definitions } = Description.parse(JSON.parse(readFileSync(file, 'utf8')))
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'kubernetes', definitions: asJsonSchema(definitions) })
  return (manifest) => {
    const definition = kinds[`${manifest.apiVersion}/${manifest.kind}`]
    if (definition === undefined) return [`There is no ${manifest.kind} in ${manifest.apiVersion}.`]
    const isValid = ajv.compile({ $ref: `kubernetes#/definitions/${definition}` })
    if (isValid(manifest)) return []
    return (isValid.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}
