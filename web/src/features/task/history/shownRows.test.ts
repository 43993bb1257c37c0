import { expect, test } from 'vitest'
import type { TimelineRow } from '#domain/history/rows.ts'
import type { TimelineSection } from '#domain/history/timeline.ts'
import { currentRow, shownRows, type Filter } from './shownRows.ts'

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
  rows,
})
const sections = [
  section(1, 'First prompt', [
    row(1, {}),
    row(2, { kind: 'command', outcome: 'failed', targets: ['npm test'] }),
    row(3, { kind: 'commit' }),
  ]),
  section(2, 'Second prompt', [row(5, {}), row(6, { kind: 'read', detail: 'of Words' })]),
]
const named = (filter: Filter, words = '', folded: readonly number[] = []) =>
  shownRows(sections, { filter, words, folded: new Set(folded) }).map((listed) =>
    listed.kind === 'head' ? `turn ${listed.section.number}` : listed.row.revision,
  )

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

test('a moment is in the last row that had begun', () => {
  const rows = shownRows(sections, { filter: 'all', words: '', folded: new Set() })
  expect([0, 1, 4, 9].map((revision) => currentRow(rows, revision))).toEqual([-1, 1, 3, 6])
})
