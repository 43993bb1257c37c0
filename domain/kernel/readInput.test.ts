/** Errors in an input are described in our words, and name the field. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { calls } from '../api/calls.schema.ts'
import { listRepositories } from '../api/projects.schema.ts'
import { updateProjectSettings } from '../api/projectSettings.schema.ts'
import { readInput } from './readInput.ts'
import { JoinTask } from '../api/socket.schema.ts'

const stockWords =
  /invalid|expected|received|too big|too small|unrecognized|zod|undefined|NaN|string|boolean/i

/** Each field of each request, alone in an object of its own. */
const fields = calls.flatMap(({ name, call }) =>
  (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = call[part]
    const object = schema instanceof z.ZodOptional ? schema.unwrap() : schema
    if (!(object instanceof z.ZodObject)) throw new Error(`${part} of ${name} is no object`)
    return Object.entries(object.shape).map(([field, of]) => {
      if (!(of instanceof z.ZodType)) throw new Error(`${field} of ${name} has no schema`)
      return { title: `${name}: ${field}`, name, field, alone: z.object({ [field]: of }) }
    })
  }),
)

/** A sentence names a field by one of its words. */
const named = (field: string) =>
  new RegExp((field.match(/[A-Z]?[a-z]+/g) ?? [field]).map((word) => word.replace(/s$/, '')).join('|'), 'i')

function refusals(schema: z.ZodType, inputs: readonly unknown[]) {
  return inputs.flatMap((input) => {
    const read = readInput(schema, input)
    return read.kind === 'refused' ? [read] : []
  })
}

test('requests have fields', () => expect(fields.length).toBeGreaterThan(50))

describe.each(fields)('$title', ({ name, field, alone }) => {
  test('that is missing, of a wrong type or too long is named in a sentence of ours', () => {
    const values = [
      undefined,
      null,
      7,
      1e30,
      Number.NaN,
      true,
      {},
      [7],
      [['x']],
      'x'.repeat(200_000),
      Array(1_001).fill('x'),
    ]
    const refused = refusals(alone, [{}, ...values.map((value) => ({ [field]: value }))])
    expect(refused.length).toBeGreaterThan(0)
    for (const { sentence, field: at } of refused) {
      expect(sentence).toMatch(/^[A-Z].*[.\w]$/)
      expect(sentence).not.toMatch(stockWords)
      expect(sentence).not.toContain('`')
      expect(/[A-Z]/.test(field) && sentence.includes(field)).toBe(false)
      expect(sentence).toMatch(named(field))
      expect(at?.split('.')[0]).toBe(field)
    }
  })

  test('keeps no NUL and no half of a surrogate pair', () => {
    const kept = ['abcdefgh\0', 'abcdefgh\uD800', '\uDC00abcdefgh'].filter((value) => {
      const read = readInput(alone, { [field]: value })
      return read.kind === 'read' && read.data[field] === value
    })
    expect(keptNowhere.has(`${name}.${field}`) ? [] : kept).toEqual([])
  })
})

/** Compared with what is kept, or with what is known. */
const keptNowhere = new Set(['login.password', 'countPageView.route'])

test.each([
  [7, 'The body must be an object.'],
  [[], 'The body must be an object.'],
  [{ variables: 7 }, 'The variables must be a list.'],
  [{ variables: [{ name: 'A' }] }, 'The value in entry 1 of the variables is missing.'],
  [{ variables: [{ name: 'A', value: 7 }] }, 'The value in entry 1 of the variables must be text.'],
  [
    { variables: [{ name: 'A'.repeat(1_000), value: '' }] },
    expect.stringMatching(/^The name in entry 1 of the variables can have at most \d+ char/),
  ],
  [{ modelFetches: 'yes' }, 'The model fetches must be true or false.'],
  [{ setupCommand: 'x'.repeat(10_001) }, 'The setup command can have at most 10,000 characters.'],
  [{ setupCommand: '\0' }, 'The setup command contains characters that cannot be stored, such as NUL.'],
])('the settings %j are refused', (input, sentence) => {
  expect(readInput(updateProjectSettings.body, input)).toMatchObject({ kind: 'refused', sentence })
})

test.each([
  ['0', 'The per page must be at least 1.'],
  ['101', 'The per page must be at most 100.'],
])('a number out of its range, as %s, is refused in plain English', (per_page, sentence) => {
  expect(readInput(listRepositories.query, { per_page })).toMatchObject({ kind: 'refused', sentence })
})

test('what the socket is asked is refused in our words as well', () => {
  for (const { sentence } of refusals(JoinTask, [7, [], [7, 7], ['x', {}]]))
    expect(sentence).not.toMatch(stockWords)
})

test('an input that is right is read', () =>
  expect(readInput(z.object({ n: z.coerce.number() }), { n: '7', more: 1 })).toEqual({
    kind: 'read',
    data: { n: 7 },
  }))
