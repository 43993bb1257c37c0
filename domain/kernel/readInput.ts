/** Validates input by a schema, and says in a sentence which field is wrong and why. */
import type { z } from 'zod'

export type Input<Data> =
  | { readonly kind: 'read'; readonly data: Data }
  | { readonly kind: 'refused'; readonly sentence: string; readonly field: string | undefined }

/** Reads input by a schema. The sentence of an error comes from the schema. If the schema has none, this file's sentence replaces zod's. */
export function readInput<S extends z.ZodType>(schema: S, input: unknown): Input<z.output<S>> {
  const result = schema.safeParse(input, { error: sentenceOf })
  if (result.success) return { kind: 'read', data: result.data }
  const [issue] = result.error.issues
  const field = issue?.path.map(String).join('.') || undefined
  return { kind: 'refused', sentence: issue?.message ?? 'The request is not valid.', field }
}

type Issue = Parameters<z.core.$ZodErrorMap>[0]

function sentenceOf(issue: Issue): string {
  return `${fieldNamed(issue)} ${issue.input === undefined ? 'is missing.' : fault(issue)}`
}

function fault(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${types[issue.expected] ?? 'of another type'}.`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}.`
    case 'too_big':
      return limitOf('at most', issue.maximum, issue.origin)
    case 'too_small':
      return limitOf('at least', issue.minimum, issue.origin)
    case 'invalid_format':
      return issue.format === 'uuid' ? 'must be a UUID.' : 'is not in the right format.'
    default:
      return 'is not valid.'
  }
}

const types: Readonly<Partial<Record<string, string>>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  nan: 'a number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function limitOf(bound: 'at most' | 'at least', count: number | bigint, origin: string): string {
  const isNumber = !['string', 'array'].includes(origin)
  const verb = isNumber ? 'must be' : bound === 'at most' ? 'can have' : 'must have'
  return `${verb} ${bound} ${amount(count, origin)}.`
}

function amount(count: number | bigint, origin: string): string {
  const number = count.toLocaleString('en-US')
  if (origin === 'string') return `${number} ${Number(count) === 1 ? 'character' : 'characters'}`
  if (origin === 'array') return `${number} ${Number(count) === 1 ? 'entry' : 'entries'}`
  return number
}

interface Place {
  readonly path?: readonly PropertyKey[] | undefined
}

/** The field in words, as the start of a sentence: 'The setup command', 'The value in entry 1 of the variables'. */
function fieldNamed({ path = [] }: Place): string {
  const named = path.reduce<string>((whole, step) => {
    const isIndex = typeof step === 'number'
    const part = isIndex ? `entry ${step + 1}` : `the ${wordsOf(String(step))}`
    if (whole === '') return part
    return whole.startsWith('entry ') ? `${part} in ${whole}` : `${part} of ${whole}`
  }, '')
  return named === '' ? 'The body' : `${named.charAt(0).toUpperCase()}${named.slice(1)}`
}

/** The names of fields that people know under another name than the API's. */
const called: Readonly<Partial<Record<string, string>>> = {
  codexModel: 'model',
  repoUrl: 'repository address',
  minPosition: 'position',
}

/** Turns `setupCommand` into 'setup command' and `per_page` into 'per page'. */
const wordsOf = (name: string): string =>
  called[name] ?? name.replace(/_?[A-Z]|_/g, (mark) => ` ${mark.replace('_', '').toLowerCase()}`)

/** An error message for a schema: the field's name, followed by `says`. */
export const saying =
  (says: string) =>
  (issue: Place): string =>
    `${fieldNamed(issue)} ${says}`
