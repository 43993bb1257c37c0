import { expect, test } from 'vitest'
import type { TimelineRow } from '#domain/history/row.ts'
import type { TimelineSection } from '#domain/history/timeline.ts'
import type { OutputItem } from '#domain/history/item.ts'
import { actorsIn, countsOf, currentRow, listedRows, type Filter } from './listedRows.ts'

const row = (revision: number, more: Partial<TimelineRow>): TimelineRow => ({
  revision,
  until: revision,
  at: '2026-01-01T00:00:00.000Z',
  kind: 'message',
  sentence: `row ${revision}`,
  detail: '',
  who: 'person',
  outcome: null,
  durationMs: null,
  costUsd: 0,
  targets: [],
  knownAt: revision,
  costAt: revision,
  begun: `row ${revision}`,
  output: [],
  ...more,
})
const section = (number: number, prompt: string, rows: readonly TimelineRow[]): TimelineSection => ({
  executionId: `e${number}`,
  number,
  kind: 'turn',
  prompt,
  revision: rows[0]?.revision ?? 0,
  at: '2026-01-01T00:00:00.000Z',
  outcome: 'completed',
  durationMs: 1,
  costUsd: 0,
  startedAt: 0,
  knownAt: 0,
  rows,
})
/** A piece of output. */
const piece = (index: number, timestamp = '2026-01-01T00:00:00.000Z', follows = 1) => ({
  index,
  item: {
    kind: 'output',
    follows,
    output: {
      taskId: 't',
      executionId: 'e',
      type: 'stdout',
      content: 'words',
      timestamp,
      position: '1',
      version: index,
    },
  } satisfies OutputItem,
})
const everything = {
  filter: 'all',
  words: '',
  actor: null,
  person: 'ada',
  folded: new Set<number>(),
  unfolded: new Set<string>(),
} as const
const sections = [
  section(1, 'First prompt', [
    row(1, {}),
    row(2, { kind: 'command', outcome: 'failed', targets: ['npm test'] }),
    row(3, { kind: 'commit' }),
  ]),
  section(2, 'Second prompt', [row(5, {}), row(6, { kind: 'read', detail: 'of Words' })]),
]
type Listed = ReturnType<typeof listedRows>[number]
function nameOfListed(listed: Listed): string | number {
  switch (listed.kind) {
    case 'head':
      return `turn ${listed.section.number}`
    case 'row':
      return listed.row.revision
    case 'output':
      return `output ${listed.key}`
    case 'piece':
      return `t${listed.piece.index}`
    case 'day':
      return `day ${new Date(listed.at).getDate()}`
    case 'gap':
      return `${listed.isIdle ? 'idle' : 'gap'} ${listed.ms / 1_000}`
  }
}
const listed = (of: readonly TimelineSection[], chosen: Partial<Parameters<typeof listedRows>[1]> = {}) =>
  listedRows(of, { ...everything, ...chosen }).map(nameOfListed)
const named = (filter: Filter, words = '', folded: readonly number[] = []) =>
  listed(sections, { filter, words, folded: new Set(folded) }).filter((name) => name !== 'day 1')

test.each<[Filter, readonly (string | number)[]]>([
  ['all', ['turn 1', 1, 2, 3, 'turn 2', 5, 6]],
  ['turns', ['turn 1', 1, 'turn 2', 5]],
  ['commands', ['turn 1', 2]],
  ['commits', ['turn 1', 3]],
  ['failures', ['turn 1', 2]],
])('%s are listed under their turns', (filter, rows) => expect(named(filter)).toEqual(rows))

test('words are looked for in all that is said, and in prompts', () => {
  expect(named('all', 'NPM')).toEqual(['turn 1', 2])
  expect(named('all', 'of words')).toEqual(['turn 2', 6])
  expect(named('all', 'second')).toEqual(['turn 2'])
  expect(named('failures', 'words')).toEqual([])
})

test('a folded turn shows its head', () => expect(named('all', '', [1])).toEqual(['turn 1', 'turn 2', 5, 6]))

test('a moment is in the last row that had begun, or in the last piece of output that is listed', () => {
  const rows = listedRows(sections, everything)
  expect([0, 1, 4, 9].map((revision) => currentRow(rows, revision, 0))).toEqual([-1, 2, 4, 7])
  const printed = listedRows(
    [section(1, '', [row(1, { kind: 'command', output: [piece(5), piece(6)] }), row(2, {})])],
    {
      ...everything,
      unfolded: new Set(['1']),
    },
  )
  expect([4, 5, 6].map((index) => currentRow(printed, 1, index))).toEqual([2, 4, 5])
})

test('recorder point 6: a moment is in the output that it came with, though older output is listed below', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const of = [
    section(1, '', [
      row(1, { output: [piece(2, at, 1)] }),
      row(3, { kind: 'command', output: [piece(5, at, 3)] }),
      row(4, {}),
    ]),
  ]
  const rows = listedRows(of, { ...everything, unfolded: new Set(['3', 'of 1']) })
  const indexOfPiece = (index: number) =>
    rows.findIndex((listed) => listed.kind === 'piece' && listed.piece.index === index)
  expect(indexOfPiece(2)).toBeGreaterThan(indexOfPiece(5))
  expect(currentRow(rows, 3, 5)).toBe(indexOfPiece(5))
  expect(currentRow(rows, 1, 2)).toBe(indexOfPiece(2))
})

test('recorder point 6: output is counted beside the entries, and unfolds below its command or turn', () => {
  const of = [
    section(1, '', [
      row(1, { output: [piece(4)] }),
      row(2, { kind: 'command', output: [piece(5), piece(6)] }),
      row(3, { output: [piece(9)] }),
    ]),
  ]
  const [head, rest] = [
    ['day 1', 'turn 1', 1, 2, 'output 2'],
    [3, 'output of 1'],
  ]
  expect(countsOf(of)).toEqual({ entries: 3, pieces: 4 })
  expect(listed(of)).toEqual([...head, ...rest])
  expect(listed(of, { unfolded: new Set(['2']) })).toEqual([...head, 't5', 't6', ...rest])
  expect(listed(of, { unfolded: new Set(['of 1']) })).toEqual([...head, ...rest, 't4', 't9'])
  expect(listed(of, { filter: 'commands' })).toEqual(['day 1', 'turn 1', 2, 'output 2'])
})

test('recorder point 9: names stand for who did something, and rows can be narrowed to one of them', () => {
  const of = [
    section(1, '', [row(1, {}), row(2, { who: 'runner' })]),
    section(2, '', [row(3, { who: { agent: 'claude' } })]),
  ]
  expect(actorsIn(of, 'ada')).toEqual(['ada', 'Flightdeck', 'Claude'])
  expect(listed(of, { actor: 'Claude' })).toEqual(['day 1', 'turn 2', 3])
  expect(listed(of, { actor: 'ada' })).toEqual(['day 1', 'turn 1', 1])
})

test('recorder point 7: days have heads, and long gaps are named', () => {
  const at = (day: number, minutes: number) => new Date(2026, 0, day, 12, minutes).toISOString()
  const of = [
    {
      ...section(1, '', [
        row(1, { at: at(1, 0) }),
        row(2, { at: at(1, 1), durationMs: 120_000 }),
        row(3, { kind: 'command', at: at(1, 5), output: [piece(9, at(1, 7))] }),
      ]),
      at: at(1, 0),
    },
    { ...section(2, '', [row(5, { at: at(2, 0) })]), at: at(2, 0) },
  ]
  const between = (24 * 60 - 7) * 60
  const rows = ['day 1', 'turn 1', 1, 'gap 60', 2, 'gap 120', 3, 'output 3']
  expect(listed(of)).toEqual([...rows, 'day 2', `idle ${between}`, 'turn 2', 5])
  expect(listed(of, { folded: new Set([1]) })).toEqual([
    'day 1',
    'turn 1',
    'day 2',
    `idle ${between}`,
    'turn 2',
    5,
  ])
  expect(listed(of, { filter: 'turns' })).not.toContain('gap 60')
})
