/** Every part of the contract, of the screens and of review findings is held by a test, or says what is missing. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultsOf, holdingsIn, partsOf, tableOf, type Part } from './contract.ts'
import { note } from './notes.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const testFiles = ['domain', 'services', 'web/src', 'tests']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, String(file))),
  )
  .filter((file) => /\.[tj]sx?$/.test(file) && file !== 'tests/report/contract.spec.ts')
const holdings = testFiles.flatMap((file) => {
  const source = read(file)
  return source.includes('// Holds ') ? holdingsIn(source, file).map((each) => ({ ...each, file })) : []
})

/** `open`: parts that no test holds yet. This number only goes down. */
const texts = [
  { name: 'the contract', text: 'contract', atLeast: 229, open: 2 },
  { name: 'the screens', text: 'screens', atLeast: 127, open: 0 },
  { name: 'what reviews found', text: 'findings', atLeast: 150, open: 1 },
]

test('no test holds a part of another text', () => {
  const known = texts.map(({ text }) => text)
  expect(holdings.filter(({ text }) => !known.includes(text))).toEqual([])
})

test.each(texts)('$name: each part is held by a test or says what is missing', ({ name, text, ...known }) => {
  const parts = partsOf(read(`tests/data/${text}.md`))
  const ofText = holdings.filter((each) => each.text === text)
  expect(faultsOf(parts, ofText)).toEqual([])
  expect(parts.length).toBeGreaterThanOrEqual(known.atLeast)
  const open = parts.filter((part) => part.open !== null).length
  expect(open).toBe(known.open)
  note(name, `${parts.length} parts: ${parts.length - open} held by tests, ${open} open`)
  const folder = join(root, 'dist/report')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${text}.md`), tableOf(parts, ofText))
})

describe('the check', () => {
  const source = `
    // Holds doors 1.1a.
    describe('a door', () => {
      // Holds doors 1.1b; windows 2.1, 2.2.
      test.each([1, 2])(
        'closes after %i seconds',
        () => {},
      )
      // Holds doors 1.2.
      test.skip('sings when nobody listens', () => {})
    })
    // Holds doors 1.3.
    const door = 1
  `
  const text =
    'A copy.\n\n## 1. Doors\n\n[1.1a] Doors open. [1.1b] They close.\n\n| Item | Value |\n|---|---|\n| [1.2] Wait | 2 s |\n- [1.3 open: windows] And windows.\n'
  const part = (number: string, open: string | null = null): Part => ({ number, text: 'Doors.', open })
  const held = (number: string, title: string | null = 'a door') => ({ text: 'doors', number, title })

  test('reads the parts of paragraphs, tables and lists', () => {
    expect(partsOf(text)).toEqual([
      { number: '1.1a', text: 'Doors open.', open: null },
      { number: '1.1b', text: 'They close.', open: null },
      { number: '1.2', text: 'Wait | 2 s', open: null },
      { number: '1.3', text: 'And windows.', open: 'windows' },
    ])
    expect(() => partsOf(`${text}\nDoors creak.\n`)).toThrow('A line begins without a number: Doors creak.')
  })

  test('reads what stands above tests, groups and tables, and where no test is', () =>
    expect(holdingsIn(source)).toEqual([
      held('1.1a'),
      held('1.1b', 'a door › closes after %i seconds'),
      { text: 'windows', number: '2.1', title: 'a door › closes after %i seconds' },
      { text: 'windows', number: '2.2', title: 'a door › closes after %i seconds' },
      held('1.2', null),
      held('1.3', null),
    ]))

  test.each([
    ['a part that no test holds', [part('1.1'), part('1.2')], [held('1.1')], 'No test holds 1.2.'],
    ['a part twice', [part('1.1'), part('1.1')], [held('1.1')], '1.1 is there twice.'],
    ['a part that is not there', [part('1.1')], [held('1.1'), held('1.2')], 'a door holds 1.2, which is not'],
    ['an open part that is held', [part('1.1', 'windows')], [held('1.1')], 'A test holds 1.1, which says'],
    ['no test', [part('1.1')], [held('1.1'), held('1.1', null)], 'What holds 1.1 is not above a test'],
  ])('finds %s', (_, parts, holds, fault) => {
    const faults = faultsOf(parts, holds)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(fault)
  })

  test('makes a page of them', () =>
    expect(tableOf(partsOf(text), [{ ...held('1.2'), file: 'door.test.ts' }])).toContain(
      '| 1.2 | Wait \\| 2 s | door.test.ts: a door |\n| 1.3 | And windows. | open: windows |\n',
    ))
})
