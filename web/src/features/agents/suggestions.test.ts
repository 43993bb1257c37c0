import { expect, test } from 'vitest'
import { mentionSuggestions } from './suggestions.ts'

const checker = {
  kind: 'subagent',
  name: 'checker',
  description: '',
  argument: null,
  from: 'repository',
  replaces: null,
} as const

test('a mention offers subagents, then files, and no file of an earlier answer that does not fit any more', () => {
  const labels = (typed: string) =>
    mentionSuggestions([checker], ['src/Check.ts', 'docs/plans.md'], typed).map(({ label }) => label)
  expect(labels('')).toEqual(['@checker', 'src/Check.ts', 'docs/plans.md'])
  expect(labels('check')).toEqual(['@checker', 'src/Check.ts'])
  expect(labels('PLANS')).toEqual(['docs/plans.md'])
})
