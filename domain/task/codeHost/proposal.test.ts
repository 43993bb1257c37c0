/** What is proposed for a pull request. */
import { describe, expect, test } from 'vitest'
import { code, proposePullRequest, type ProposalOf } from './proposal.ts'

const task: ProposalOf = {
  title: 'Add a greeting',
  description: 'Add a greeting\nSay hello to whoever starts the program.',
  asked: [],
  answered: null,
  issue: null,
}

describe('the title', () => {
  test("is the task's, in one line and no longer than a code host takes", () => {
    expect(proposePullRequest(task).title).toBe('Add a greeting')
    const { title } = proposePullRequest({ ...task, title: `Two\nlines ${'x'.repeat(400)}` })
    expect(title).toMatch(/^Two lines x+…$/)
    expect(title).toHaveLength(250)
  })

  test('of work on an issue says what was done, and of several turns no more than that it is addressed', () => {
    const work = { ...task, title: 'Totals are wrong', issue: 7, answered: 'I fixed the totals.' }
    expect(proposePullRequest(work).title).toBe('Fix the totals')
    expect(proposePullRequest({ ...work, asked: ['And a typo'] }).title).toBe('Address #7: Totals are wrong')
  })
})

describe('the body', () => {
  test('is what the task says beyond its title', () => {
    expect(proposePullRequest(task).body).toBe('Say hello to whoever starts the program.')
    expect(proposePullRequest({ ...task, title: 'Greet' }).body).toBe(task.description)
    expect(proposePullRequest({ ...task, description: 'Add a greeting' }).body).toBe('')
  })

  test('has what the agent said last, and what was asked for on the way', () => {
    const { body } = proposePullRequest({
      ...task,
      answered: 'The program greets now.\n\nIt has a test.',
      asked: ['And in\nGerman', '  '],
    })
    expect(body).toBe(
      [
        'Say hello to whoever starts the program.',
        '',
        '## What was done',
        '',
        'The program greets now.',
        '',
        'It has a test.',
        '',
        '## Asked for on the way',
        '',
        '- And in German',
      ].join('\n'),
    )
  })

  test('mentions nobody', () => {
    const { body } = proposePullRequest({ ...task, answered: 'Done, @grace.', asked: ['@alan asked'] })
    expect(body).toContain('Done, @\u200Bgrace.')
    expect(body).not.toMatch(/@\w/)
  })

  test('stays below what a code host takes, however much was said', () => {
    const long = 'x'.repeat(100_000)
    const asked = Array.from({ length: 100 }, () => long)
    const { body } = proposePullRequest({ ...task, description: long, answered: long, asked })
    expect(body.length).toBeLessThan(60_000)
  })
})

test.each([
  ['`; rm `', '`` `; rm ` ``'],
  ['new\n## line', '`new\\u000a## line`'],
  ['bidi\u202Esj.exe', '`bidi\\u202esj.exe`'],
])('shows %j as code, in one line', (text, shown) => {
  expect(code(text)).toBe(shown)
})
