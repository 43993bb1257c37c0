import { describe, expect, test } from 'vitest'
import {
  firstCommitMessage,
  followUpMessage,
  issueTitle,
  subjectLength,
  type FollowUp,
} from './commitMessage.ts'

const nothing: FollowUp = { number: 2, said: null, asked: null, feedback: [] }
const review = { kind: 'review', author: 'ada', check: null } as const
const check = { kind: 'check', author: null, check: 'build' } as const
const subjectOf = (work: Partial<FollowUp>) => followUpMessage({ ...nothing, ...work }).split('\n')[0]

describe('the subject of a follow-up', () => {
  test.each([
    ['I fixed the rounding of totals. All tests pass.', 'Fix the rounding of totals'],
    ["I've added a test for empty carts.", 'Add a test for empty carts'],
    ['Done! I have also renamed `total` to `sum`.', 'Rename total to sum'],
    [
      'All good.\n\n- **Updated** the [README](https://example.com/a)\n- Removed dead code',
      'Update the README',
    ],
    ['Here is what I did:\n\n```ts\nAdded = 1\n```\n\nWrote the missing docs.', 'Write the missing docs'],
    ['# Added things\n\n> Removed quotes\n\nSimplified the parser', 'Simplify the parser'],
    ['I formatted the dates. I kept their names.', 'Format the dates'],
    [
      'I pulled the factor out into a constant and named it `factor`.',
      'Pull the factor out into a constant and name it factor',
    ],
    ['I fixed the rounding of totals and hoisted the loop.', 'Fix the rounding of totals'],
    ['Removed dead code and unused imports', 'Remove dead code and unused imports'],
    ['Dropped snake_case from the API', 'Drop snake_case from the API'],
    [
      'I replaced the hand-written parser of dates with the one of the library, because it was wrong in leap years.',
      'Replace the hand-written parser of dates with the one of the library',
    ],
  ])('is what the agent says that it did: %s', (said, subject) => {
    expect(subjectOf({ said, feedback: [review] })).toBe(subject)
  })

  test.each([
    ['I could not reproduce the failure.'],
    ['I kept the name, since others import it.'],
    ['I skipped the migration.'],
    ['Tested it on Linux.'],
    ['Nothing had to be changed.'],
    ['Fixed'],
    ['Added @ada as an owner'],
    ['```\nAdded secrets\n```'],
    ['```\nAdded secrets without an end'],
    ['<!-- Added what nobody sees -->'],
    [`Added ${'a'.repeat(100)}`],
    [''],
  ])('is no word of an answer that does not say it: %s', (said) => {
    expect(subjectOf({ said, feedback: [review] })).toBe('Address review of #2')
    expect(subjectOf({ said, feedback: [{ ...review, kind: 'comment' }] })).toBe('Address comment of #2')
    expect(subjectOf({ said, feedback: [check] })).toBe('Fix check build of #2')
    expect(subjectOf({ said, asked: 'Make it blue\nplease' })).toBe('Make it blue')
    expect(subjectOf({ said, asked: 'Could you please make it blue?' })).toBe('Make it blue')
    expect(subjectOf({ said })).toBe('Continue #2')
  })

  test('is at most 72 characters long, and mentions nobody', () => {
    const asked = `@ada, ${'please '.repeat(40)}`
    for (const work of [{ asked }, { feedback: [{ ...check, check: asked }] }]) {
      const subject = subjectOf(work) ?? ''
      expect([...subject].length).toBeLessThanOrEqual(subjectLength)
      expect(subject).not.toContain('@')
      expect(subject).toMatch(/please…$|please… of #2$/)
    }
  })
})

test('the body of a follow-up names what it was asked by, each once', () => {
  expect(followUpMessage({ ...nothing, said: 'I fixed the build.', feedback: [review, check, review] })).toBe(
    'Fix the build\n\nAsked for in a review by ada on #2.\n\nAsked for by the failed check build of #2.',
  )
  expect(followUpMessage({ ...nothing, said: 'I fixed it all.', asked: '@bob and\nyou: fix it' })).toBe(
    'Fix it all\n\nAsked for: bob and you: fix it',
  )
  expect(followUpMessage({ ...nothing, asked: 'Please make it blue' })).toBe('Make it blue')
})

test('a first commit has its title as subject, and a long one in full below', () => {
  expect(firstCommitMessage('Make the widget blue', null)).toBe('Make the widget blue')
  expect(firstCommitMessage('Make the widget blue', 7)).toBe('Make the widget blue\n\nAsked for in issue #7.')
  const title = 'Make '.repeat(30).trim()
  const [subject = '', empty, whole] = firstCommitMessage(title, null).split('\n')
  expect(subject.length).toBeLessThanOrEqual(subjectLength)
  expect([empty, whole]).toEqual(['', title])
})

test.each([
  ['I fixed the rounding of totals. It has a test.', 'Totals are wrong', 'Fix the rounding of totals'],
  ['The cause was a rounding. I updated the README.', 'Totals are wrong', 'Address #7: Totals are wrong'],
  [null, 'Totals are wrong', 'Address #7: Totals are wrong'],
  [null, 'Add a total', 'Add a total'],
  [null, 'Added totals are wrong', 'Address #7: Added totals are wrong'],
])('the title of work on an issue says what was done: %s %s', (said, title, expected) => {
  expect(issueTitle({ number: 7, title, said })).toBe(expected)
})
