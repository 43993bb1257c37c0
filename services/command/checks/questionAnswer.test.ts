/** An answer must fit its question: one that an agent could not use, or would not receive, is refused. */
import { describe, expect, test } from 'vitest'
import type { FormField } from '#domain/task/questionEvents.ts'
import { answerFor } from './questionAnswer.ts'

const option = (value: string) => ({ value, label: value, description: '', preview: null })
const field = (name: string, type: FormField['type'], required = false, choices: string[] = []) => ({
  name,
  label: name,
  description: '',
  type,
  required,
  choices,
})
const ofKind = (kind: 'question' | 'plan' | 'permission', ...options: readonly string[]) => ({
  kind,
  options: options.map(option),
  fields: [],
  allowsText: true,
  multiple: false,
})
const form = (...fields: readonly FormField[]) => ({
  kind: 'form' as const,
  options: [option('decline')],
  fields: [...fields],
  allowsText: false,
  multiple: false,
})
const said = (name: string, value: string) => ({ name, value })

describe('a form', () => {
  test('leaves out what nobody filled in', () => {
    const asked = form(
      field('port', 'number'),
      field('level', 'choice', false, ['low']),
      field('name', 'text'),
    )
    expect(
      answerFor(asked, { values: [said('port', ''), said('level', ''), said('name', 'x')] }).values,
    ).toEqual([said('name', 'x')])
  })

  test('takes the value of each field once', () => {
    const asked = form(field('age', 'integer'))
    expect(() => answerFor(asked, { values: [said('age', '5'), said('age', 'abc')] })).toThrow(/age/)
    expect(() => answerFor(asked, { values: [said('age', ' ')] })).toThrow(/age/)
    expect(() => answerFor(asked, { values: [said('other', '5')] })).toThrow(/other/)
  })
})

test('words that the agent would not be told are refused', () => {
  const permission = ofKind('permission', 'allow', 'deny')
  expect(() => answerFor(permission, { choices: ['allow'], text: 'Only once.' })).toThrow(/Deny/)
  expect(answerFor(permission, { choices: ['deny'], text: 'Not now.' }).text).toBe('Not now.')
  const plan = ofKind('plan', 'approve', 'send_back')
  expect(() => answerFor(plan, { choices: ['approve'], text: 'But quickly.' })).toThrow(/Send back/)
  expect(() => answerFor(plan, 'send_back')).toThrow(/what to change/)
})

test('an option of a question may be named as one of a plan is', () => {
  expect(answerFor(ofKind('question', 'send_back', 'keep'), 'send_back').choices).toEqual(['send_back'])
})
