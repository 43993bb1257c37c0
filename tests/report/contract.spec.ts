/** Every line of the contract and of the screens is held by a test that is named in the table of docs/, or says there what is missing. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultsOf, headingsOf, linesOf, rowsOf, type Row } from './contract.ts'
import { note } from './notes.ts'
import { titlesIn } from './titles.ts'

/** A text with the table of the tests that hold it; `open` parts of its lines no test holds yet: this only goes down. */
const tables = [
  { name: 'the contract', text: 'tests/data/contract.md', table: 'docs/contract.md', atLeast: 130, open: 2 },
  { name: 'the screens', text: 'tests/data/screens.md', table: 'docs/screens.md', atLeast: 66, open: 0 },
]

const textOf = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
const known = new Map<string, ReturnType<typeof titlesIn> | undefined>()
function titlesOf(file: string) {
  if (!known.has(file)) {
    known.set(
      file,
      existsSync(join(import.meta.dirname, '../..', file)) ? titlesIn(textOf(file), file) : undefined,
    )
  }
  return known.get(file)
}

describe.each(tables)('the table of $name', ({ name, text, table, atLeast, open }) => {
  const lines = linesOf(textOf(text))
  const rows = rowsOf(textOf(table))

  test('has every line, in order, once, each with a test that is there or with what is missing', () => {
    expect(lines.length).toBeGreaterThanOrEqual(atLeast)
    expect(faultsOf(lines, rows, titlesOf)).toEqual([])
  })

  test('has the sections of the text', () =>
    expect(headingsOf(textOf(table))).toEqual(headingsOf(textOf(text))))

  test('has no more open rows than there were', () => {
    const missing = rows.filter(({ by }) => 'open' in by)
    expect(missing).toHaveLength(open)
    const held = rows.length - missing.length
    note(name, `${lines.length} lines in ${rows.length} parts: ${held} held by tests, ${open} open`)
  })
})

describe('the table of findings', () => {
  const text = textOf('tests/data/findings.md')
  const rows = rowsOf(text)

  test('names for each a test that is there', () => {
    const lines = rows.map(({ line }) => line)
    expect(faultsOf(lines, rows, titlesOf)).toEqual([])
  })

  test('has all of the security review', () => {
    const numbers = rows.flatMap(({ line }) => /^(\d+)\. /.exec(line)?.[1] ?? [])
    expect([...new Set(numbers)]).toEqual(Array.from({ length: 16 }, (_, index) => String(index + 1)))
    const open = rows.filter(({ by }) => 'open' in by)
    note('findings of the reviews', `${rows.length} lines, ${open.length} open`)
  })

  test('has those in audit bundles, none of them open', () => {
    const [, table = ''] = text.split(/^## Audit bundles$/m)
    const ofBundles = rowsOf(table)
    expect(ofBundles.length).toBeGreaterThan(20)
    expect(ofBundles.filter(({ by }) => 'open' in by)).toEqual([])
  })
})

describe('the table of docs/contract-review.md', () => {
  test('names for each finding a test that is there', () => {
    const rows = rowsOf(textOf('docs/contract-review.md'))
    expect(rows.length).toBeGreaterThan(45)
    const lines = rows.map(({ line }) => line)
    expect(faultsOf(lines, rows, titlesOf)).toEqual([])
    expect(rows.filter(({ by }) => 'open' in by)).toEqual([])
  })
})

describe('the check', () => {
  const source = `
    describe('a door', () => {
      test('opens when it is asked to', () => {})
      test.each([1, 2])(
        'closes after %i seconds',
        () => {},
      )
      test.skip('sings when nobody listens', () => {})
    })
    describe.each(['red'])('a window', () => test(\`opens in \${'summer'} and winter\`, () => {}))
  `
  const doors = (file: string) => (file === 'door.test.ts' ? titlesIn(source) : undefined)
  const held = (line: string, words: string, file = 'door.test.ts'): Row => ({ line, by: { file, words } })
  const said = linesOf(
    '## 1. Doors\n\nDoors open. They close.\n\n| Item | Value |\n|---|---|\n| Wait | 2 s |\n- And windows.\n',
  )
  const good = [
    held('Doors open.', 'a door › opens when'),
    held('They close.', 'closes after %i seconds'),
    held('Wait | 2 s', 'closes after'),
    { line: 'And windows.', by: { open: 'windows' } },
  ]
  const [first, second, third, fourth] = good
  if (!first || !second || !third || !fourth) throw new Error('There are four rows.')

  test('is content with a table that holds', () => {
    expect(said).toEqual(['Doors open. They close.', 'Wait | 2 s', 'And windows.'])
    expect(faultsOf(said, good, doors)).toEqual([])
  })

  test.each<readonly [string, readonly Row[], string]>([
    ['a line that is missing', [first, second, fourth], 'The contract goes on with: Wait | 2 s'],
    ['a part that is missing', [first, third, fourth], 'The contract goes on with: They close.'],
    ['the last that is missing', [first, second, third], 'The table goes on with: nothing'],
    ['another order', [first, second, fourth, third], 'The contract goes on with: Wait | 2 s'],
    [
      'a line that is there twice',
      [...good, fourth],
      'The contract has no such line, or not again: And windows.',
    ],
    [
      'a line in other words',
      [held('Doors shut.', 'opens when it is'), second, third, fourth],
      'The contract goes on with: Doors open.',
    ],
    [
      'a row that quotes nothing',
      [held('', 'opens when it is'), ...good],
      'The contract goes on with: Doors open.',
    ],
    [
      'a file that is not there',
      [held('Doors open.', 'opens when it is', 'gate.test.ts'), second, third, fourth],
      'gate.test.ts is no test file',
    ],
    [
      'a file that is no test',
      [held('Doors open.', 'opens when it is', 'door.ts'), second, third, fourth],
      'door.ts is no test file',
    ],
    [
      'words of no title',
      [held('Doors open.', 'opens by itself'), second, third, fourth],
      '0 titles in door.test.ts',
    ],
    [
      'words of two titles',
      [held('Doors open.', 'opens when'), held('They close.', 'a door › '), third, fourth],
      '2 titles in door.test.ts',
    ],
    ['words that say nothing', [held('Doors open.', 'opens'), second, third, fourth], 'too few words'],
    [
      'a test that is skipped',
      [held('Doors open.', 'sings when nobody listens'), second, third, fourth],
      '0 titles in door.test.ts',
    ],
  ])('finds %s', (_, broken, fault) => {
    const faults = faultsOf(said, broken, doors)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(fault)
  })

  test('refuses a row that has not three cells, and knows a bar in one', () => {
    expect(() => rowsOf('| Doors open. | door.test.ts |')).toThrow('A row has three cells')
    expect(rowsOf('| Line | File | Words |\n|---|---|---|\n| Wait \\| 2 s | open: doors | |')).toEqual([
      { line: 'Wait | 2 s', by: { open: 'doors' } },
    ])
  })

  test('reads titles of groups, tables and templates', () =>
    expect(titlesIn(source).map(({ own, groups }) => [...groups, own].join(' › '))).toEqual([
      'a door',
      'a door › opens when it is asked to',
      'a door › closes after %i seconds',
      'a window',
      "a window › opens in ${'summer'} and winter",
    ]))
})
