import { describe, expect, test } from 'vitest'
import { fileOf } from '../../../../../../tests/client/samples.ts'
import {
  diffRows,
  hunkStarts,
  linesOf,
  maxLineLength,
  type KnownLines,
  type DiffView,
  widestLine,
} from './diffRows.ts'
import { lineKey } from './parseDiff.ts'
import { readDiffs } from './readDiffs.ts'

/** A file of 60 lines, of which the 20th was changed and one was added after the 40th. */
const diff = `diff --git a/a.ts b/a.ts
index ${'a1'.repeat(20)}..${'b2'.repeat(20)} 100644
--- a/a.ts
+++ b/a.ts
@@ -17,7 +17,7 @@ heading
 17
 18
 19
-20
+twenty
 21
 22
 23
@@ -38,6 +38,7 @@
 38
 39
 40
+new
 41
 42
 43
`
const all: DiffView = {
  isFolded: () => false,
  requested: new Set(),
  split: false,
  known: new Map(),
  comment: null,
  onlyWhitespace: 'only whitespace',
}
const knowing = (numbers: readonly number[], total: number | null = 60): Pick<DiffView, 'known'> => {
  const lines: KnownLines = { lines: new Map(numbers.map((number) => [number, `${number}`])), total }
  return { known: new Map([['a.ts', lines]]) }
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const files = readDiffs([fileOf('a.ts', { diff })])
const rowsOf = (over: Partial<DiffView> = {}) => diffRows(files, { ...all, ...over })
const bars = (over: Partial<DiffView> = {}) =>
  rowsOf(over).flatMap((row) => (row.kind === 'bar' ? [row.gap] : []))
const written = (over: Partial<DiffView> = {}) =>
  rowsOf(over).flatMap((row) => (row.kind === 'line' ? linesOf(row).map(lineKey) : []))

describe('the rows of a diff', () => {
  test('are known by ids that no other has', () => {
    for (const split of [false, true]) {
      const ids = rowsOf({ split, ...knowing([24, 25, 36, 37]) }).map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
    }
  })

  test('say which lines are not shown: above, between and below', () => {
    expect(bars()).toEqual([
      { from: 1, to: 16, place: 'top' },
      { from: 24, to: 37, place: 'middle' },
      { from: 44, to: null, place: 'end' },
    ])
  })

  test('go on with lines that became known, from either end of what is hidden', () => {
    expect(bars(knowing([15, 16, 24, 25, 37, 44, 45]))).toEqual([
      { from: 1, to: 14, place: 'top' },
      { from: 26, to: 36, place: 'middle' },
      { from: 46, to: 60, place: 'end' },
    ])
    const lines = written(knowing([15, 16, 24, 25, 37, 44, 45]))
    expect(lines.slice(0, 3)).toEqual(['15:15', '16:16', '17:17'])
    expect(lines).toContain('37:37')
    expect(lines.at(-1)).toBe('45:46')
  })

  test('are the whole file once all of it is known, without bars and with both sides in order', () => {
    const known = knowing(range(1, 60))
    expect(bars(known)).toEqual([])
    const numbers = (side: 'left' | 'right', key: 'before' | 'after') =>
      rowsOf(known).flatMap((row) => {
        const number = row.kind === 'line' ? row[side]?.line[key] : undefined
        return typeof number === 'number' ? [number] : []
      })
    expect(numbers('left', 'before')).toEqual(range(1, 60))
    expect(numbers('right', 'after')).toEqual(range(1, 61))
  })

  test('side by side have what was deleted beside what took its place', () => {
    const sides = rowsOf({ split: true }).flatMap((row) =>
      row.kind === 'line' && row.changed ? [[row.left?.line.text, row.right?.line.text]] : [],
    )
    expect(sides).toEqual([
      ['20', 'twenty'],
      [undefined, 'new'],
    ])
  })

  test('of a folded file are its head, and a comment that is written on it', () => {
    expect(rowsOf({ isFolded: () => true }).map(({ kind }) => kind)).toEqual(['file'])
    const comment = { fileName: 'a.ts', lastKey: ':20' }
    expect(rowsOf({ isFolded: () => true, comment }).map(({ kind }) => kind)).toEqual(['file', 'comment'])
  })

  test('have a comment below its line, in either view, and at the head when the line is gone', () => {
    for (const split of [false, true]) {
      const rows = rowsOf({ split, comment: { fileName: 'a.ts', lastKey: ':20' } })
      const above = rows[rows.findIndex(({ kind }) => kind === 'comment') - 1]
      expect(above?.kind === 'line' && linesOf(above).map(({ text }) => text)).toContain('twenty')
    }
    const lost = rowsOf({ comment: { fileName: 'a.ts', lastKey: '99:99' } })
    expect(lost.map(({ kind }) => kind).slice(0, 2)).toEqual(['file', 'comment'])
  })

  test('begin changes at the first changed line of each hunk', () => {
    const rows = rowsOf(knowing(range(24, 37)))
    expect(
      hunkStarts(rows).map((index) => {
        const row = rows[index]
        return row?.kind === 'line' ? linesOf(row)[0]?.text : undefined
      }),
    ).toEqual(['20', 'new'])
  })

  test('of a new file and of one that was cut offer no lines that are not there', () => {
    const fresh = diff.replace('a1'.repeat(20), '0'.repeat(40))
    const cut = `${diff}\\ The diff is longer than 200 KB and was cut here.\n`
    const gaps = (text: string) =>
      diffRows(readDiffs([fileOf('a.ts', { diff: text })]), all).flatMap((row) =>
        row.kind === 'bar' ? [row.gap?.place ?? null] : [],
      )
    expect(gaps(fresh)).toEqual([null, null])
    expect(gaps(cut)).toEqual(['top', 'middle'])
  })
})

describe('a large diff', () => {
  const long = (lines: number) =>
    `@@ -0,0 +1,${lines} @@\n${Array.from({ length: lines }, (_, n) => `+${n}\n`).join('')}`
  const kinds = (changed: readonly string[], asked: readonly string[] = []) =>
    diffRows(readDiffs(changed.map((text, n) => fileOf(`${n}`, { diff: text }))), {
      ...all,
      requested: new Set(asked),
    }).filter(({ kind }) => kind === 'large')

  test('waits until it is asked for beside others, and is shown when it is alone', () => {
    expect(kinds([long(5_000), long(1)])).toHaveLength(1)
    expect(kinds([long(5_000), long(1)], ['0'])).toHaveLength(0)
    expect(kinds([long(5_000)])).toHaveLength(0)
  })

  test('of a line that nobody wrote waits too', () => {
    expect(kinds([`@@ -0,0 +1 @@\n+${'x'.repeat(30_000)}\n`])).toHaveLength(1)
  })
})

test.each([
  ['a letter as one', 'abc', 3],
  ['a tab as four', '\tabc', 7],
  ['a wide character as two', '漢字かなカナ한글，', 18],
  ['no more characters than are shown', '漢'.repeat(maxLineLength + 1), 2 * maxLineLength],
])('the width of the list counts %s', (_what, line, width) => {
  const file = fileOf('a.txt', { diff: `@@ -0,0 +1 @@\n+${line}\n` })
  expect(widestLine(readDiffs([file]))).toBe(width)
})
