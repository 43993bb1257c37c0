/** The proposed title and text of a pull request. */
import { describe, expect, test } from 'vitest'
import {
  code,
  proposePullRequest,
  belowTemplateMark,
  withTemplate,
  type ProposalOf,
} from './pullRequestProposal.ts'

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

const ours = 'It says goodbye now.\n\n---\n\n[Record of this task](https://deck.example/tasks/1)\n'

test('the template stands below the words of the task, with its remarks', () => {
  const body = withTemplate(ours, '## Checklist\n\n<!-- tick what holds -->\n- [ ] Tests\n')
  expect(body).toBe(
    `${ours.trimEnd()}\n\n---\n<!-- Template of the repository -->\n\n## Checklist\n\n<!-- tick what holds -->\n- [ ] Tests\n`,
  )
  expect(withTemplate(ours, null)).toBe(ours)
})

test('a template that makes the body longer than GitHub takes is left out', () => {
  const long = 'x'.repeat(60_000)
  expect(withTemplate(long, 'y'.repeat(6_000))).toBe(long)
  expect(withTemplate(long, 'y'.repeat(4_000)).length).toBeLessThan(65_536)
})

test('what people filled in below stays when the words above are written anew', () => {
  const before = withTemplate(ours, '- [ ] Tests')
  const filled = before.replace('[ ]', '[x]')
  expect(withTemplate('Other words.', belowTemplateMark(filled))).toBe(
    'Other words.\n\n---\n<!-- Template of the repository -->\n\n- [x] Tests',
  )
  expect(belowTemplateMark('Nothing of it.')).toBeNull()
  // The words above cannot pretend to be it.
  const forged = withTemplate('<!-- Template of the repository --> forged', '- [ ] Tests')
  expect(belowTemplateMark(forged)).toBe('- [ ] Tests')
})
