import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDiff } from './parseDiff.ts'
import { withoutWhitespace } from './whitespace.ts'

const hunkOf = (rows: string) => {
  const lines = rows.split('\n')
  const before = lines.filter((row) => !row.startsWith('+')).length
  const after = lines.filter((row) => !row.startsWith('-')).length
  return parseDiff(`@@ -1,${before} +1,${after} @@\n${rows}\n`)
}
const shown = (rows: string) => {
  const { hunks, hidden } = withoutWhitespace(hunkOf(rows))
  return { lines: hunks.flatMap(({ lines }) => lines.map(({ kind, text }) => `${kind} ${text}`)), hidden }
}

describe('changes without whitespace', () => {
  test('a line that was only indented is shown as it is now', () => {
    expect(shown(' if a:\n-  b\n-  c\n+    b\n+    changed')).toEqual({
      lines: ['context if a:', 'context     b', 'deleted   c', 'added     changed'],
      hidden: 1,
    })
  })

  test('a hunk in which nothing else changed is left out', () => {
    expect(shown(' a\n-b\n+ b\n c')).toEqual({ lines: [], hidden: 1 })
  })

  test('what moved into a block is found behind an added line', () => {
    expect(shown('-work()\n+if (ready) {\n+  work()\n+}')).toEqual({
      lines: ['added if (ready) {', 'context   work()', 'added }'],
      hidden: 1,
    })
  })

  test('other changes stay as they are', () => {
    expect(shown(' a\n-b\n+c')).toEqual({ lines: ['context a', 'deleted b', 'added c'], hidden: 0 })
  })

  test('no line of either side is lost or out of its order', () => {
    const text = fc.constantFrom('a', ' a', 'b', 'b ', '\tc', '')
    const row = fc.tuple(fc.constantFrom(' ', '+', '-'), text).map(([sign, rest]) => sign + rest)
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 25 }), (rows) => {
        const before = hunkOf(rows.join('\n'))
        const { hunks } = withoutWhitespace(before)
        if (hunks.length === 0) return
        for (const side of ['before', 'after'] as const) {
          const numbers = (all: typeof hunks) =>
            all.flatMap(({ lines }) => lines.flatMap((line) => (line[side] === null ? [] : [line[side]])))
          expect(numbers(hunks)).toEqual(numbers(before))
        }
      }),
    )
  })
})
