/** What is proposed for a pull request. */
import { describe, expect, test } from 'vitest'
import { proposePullRequest, type ProposalOf, type ProposedFile } from './proposal.ts'

const file = (fileName: string, status: ProposedFile['status'] = 'modified'): ProposedFile => ({
  fileName,
  status,
  additions: 2,
  deletions: 1,
})
const task: ProposalOf = {
  title: 'Add a greeting',
  description: 'Add a greeting\nSay hello to whoever starts the program.',
  asked: [],
  answered: null,
  files: [],
  totals: { files: 0, additions: 0, deletions: 0 },
}

describe('the title', () => {
  test("is the task's, in one line and no longer than a code host takes", () => {
    expect(proposePullRequest(task).title).toBe('Add a greeting')
    const { title } = proposePullRequest({ ...task, title: `Two\nlines ${'x'.repeat(400)}` })
    expect(title).toMatch(/^Two lines x+…$/)
    expect(title).toHaveLength(250)
  })
})

describe('the body', () => {
  test('is what the task says beyond its title', () => {
    expect(proposePullRequest(task).body).toBe('Say hello to whoever starts the program.')
    expect(proposePullRequest({ ...task, title: 'Greet' }).body).toBe(task.description)
    expect(proposePullRequest({ ...task, description: 'Add a greeting' }).body).toBe('')
  })

  test('has what the agent said last, what was asked for on the way, and what changed', () => {
    const { body } = proposePullRequest({
      ...task,
      answered: 'The program greets now.\n\nIt has a test.',
      asked: ['And in\nGerman', '  '],
      files: [
        file('a.js', 'untracked'),
        file('b.js'),
        file('c.js', 'deleted'),
        { ...file('e.js', 'renamed'), previousName: 'd.js' },
      ],
      totals: { files: 4, additions: 8, deletions: 4 },
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
        '',
        '## Changes',
        '',
        '4 files, +8 −4',
        '',
        '- `a.js` is new (+2 −1)',
        '- `b.js` (+2 −1)',
        '- `c.js` is gone (+2 −1)',
        '- `d.js` is now `e.js` (+2 −1)',
      ].join('\n'),
    )
  })

  test('counts all files and names the first fifty', () => {
    const files = Array.from({ length: 60 }, (_, n) => file(`${n}.js`))
    const totals = { files: 2_000, additions: 1, deletions: 1 }
    const lines = proposePullRequest({ ...task, files, totals }).body.split('\n')
    expect(lines).toContain('2000 files, +1 −1')
    expect(lines.filter((line) => line.startsWith('- `'))).toHaveLength(50)
    expect(lines.at(-1)).toBe('- and 1950 more')
  })

  test.each([
    ['`; rm `', '- `` `; rm ` `` (+2 −1)'],
    ['new\n## line', '- `new\\u000a## line` (+2 −1)'],
    ['bidi\u202Esj.exe', '- `bidi\\u202esj.exe` (+2 −1)'],
  ])('shows a file called %j as code, in one line', (name, line) => {
    const totals = { files: 1, additions: 2, deletions: 1 }
    expect(
      proposePullRequest({ ...task, files: [file(name)], totals })
        .body.split('\n')
        .at(-1),
    ).toBe(line)
  })

  test('stays below what a code host takes, however much was said', () => {
    const long = 'x'.repeat(100_000)
    const files = Array.from({ length: 60 }, () => file('f'.repeat(400)))
    const totals = { files: 60, additions: 1, deletions: 1 }
    const asked = Array.from({ length: 100 }, () => long)
    const { body } = proposePullRequest({ ...task, description: long, answered: long, asked, files, totals })
    expect(body.length).toBeLessThan(60_000)
  })
})
