/** Reads an input by its schema, or says in a sentence what is wrong with which field. Pure. */
import type { z } from 'zod'
import { fieldNamed } from '../kernel/fieldNamed.ts'

export type Input<Data> =
  | { readonly kind: 'read'; readonly data: Data }
  | { readonly kind: 'refused'; readonly sentence: string; readonly field: string | undefined }

/** Reads by the schema. A sentence of the schema's own goes before ours; the schema library's is never told. */
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
      return `can have at most ${amount(issue.maximum, issue.origin)}.`
    case 'too_small':
      return `must have at least ${amount(issue.minimum, issue.origin)}.`
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

function amount(count: number | bigint, origin: string): string {
  const number = count.toLocaleString('en-US')
  if (origin === 'string') return `${number} ${Number(count) === 1 ? 'character' : 'characters'}`
  if (origin === 'array') return `${number} ${Number(count) === 1 ? 'entry' : 'entries'}`
  return `the value ${number}`
}
