import { describe, expect, test } from 'vitest'
import type { FormField } from '#domain/task/questionEvents.ts'
import {
  emptyDraft,
  faultOf,
  readDraft,
  sendBackText,
  valuesOf,
  writeDraft,
  writtenIn,
  type AnswerDraft,
} from './answerDraft.ts'

const whole: AnswerDraft = {
  choices: ['red'],
  text: 'And fast.',
  values: { name: 'Ada' },
  comments: [{ quote: '1. Delete it\n\n2. Leave', text: ' Keep it ' }],
  open: { quote: 'Then', text: 'Why', block: 2 },
}
const field = (over: Partial<FormField>): FormField => ({
  name: 'n',
  label: 'Name',
  description: '',
  type: 'text',
  required: false,
  choices: [],
  ...over,
})

describe('a draft of an answer', () => {
  test('is read as it was written, and one with nothing in it is not kept', () => {
    expect(readDraft(writeDraft(whole))).toEqual(whole)
    expect(writeDraft(emptyDraft)).toBe('')
    expect(readDraft('')).toEqual(emptyDraft)
  })

  test.each([
    '{',
    '7',
    'null',
    '{"choices":7,"text":[],"values":{"a":1},"comments":[{}],"open":{"quote":1}}',
  ])('that is damaged is an empty one: %s', (stored) => {
    expect(readDraft(stored)).toEqual(emptyDraft)
  })

  test('has each comment below the passage it is about, and then what is about the whole', () => {
    expect(sendBackText(whole)).toBe('> 1. Delete it\n>\n> 2. Leave\n\nKeep it\n\nAnd fast.')
    expect(sendBackText(emptyDraft)).toBe('')
    const long = sendBackText({ comments: [{ quote: 'x'.repeat(5_000), text: 'No' }], text: '' })
    expect(long).toBe(`> ${'x'.repeat(1_000)}…\n\nNo`)
  })

  test('is told in full to who was late', () => {
    expect(writtenIn(whole)).toBe(
      '> 1. Delete it\n>\n> 2. Leave\n\nKeep it\n\n> Then\n\nWhy\n\nAnd fast.\n\nAda',
    )
    expect(writtenIn({ ...emptyDraft, choices: ['red'] })).toBe('')
  })
})

describe('values of a form', () => {
  test('are those that were filled in, and a box is true or false', () => {
    const fields = [field({ name: 'a' }), field({ name: 'b', type: 'boolean' }), field({ name: 'c' })]
    expect(valuesOf(fields, { a: 'x', c: ' ' })).toEqual([
      { name: 'a', value: 'x' },
      { name: 'b', value: 'false' },
    ])
  })

  test.each<readonly [Partial<FormField>, string, string | undefined]>([
    [{ required: true }, ' ', 'Fill in Name.'],
    [{ required: true }, 'x', undefined],
    [{}, '', undefined],
    [{ type: 'boolean', required: true }, '', undefined],
    [{ type: 'number' }, '1.5', undefined],
    [{ type: 'number' }, 'many', 'Name has to be a number.'],
    [{ type: 'integer' }, '1.5', 'Name has to be a whole number.'],
  ])('%j with %j: %s', (over, value, fault) => {
    expect(faultOf(field(over), value)).toBe(fault)
  })
})
