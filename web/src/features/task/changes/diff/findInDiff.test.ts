import { describe, expect, test } from 'vitest'
import { fileOf } from '../../../../../../tests/client/samples.ts'
import { findInDiff, marksIn, maxMatches } from './findInDiff.ts'
import { readDiffs } from './readDiffs.ts'

const files = readDiffs([fileOf('b.ts'), fileOf('a.ts')])

describe('looking for text in changes', () => {
  test('finds it in every line of every file, in their order, without regard to case', () => {
    expect(findInDiff(files, 'AFTER')).toEqual([
      { fileName: 'a.ts', key: ':2', nth: 0 },
      { fileName: 'b.ts', key: ':2', nth: 0 },
    ])
  })

  test('finds it as often as it is in a line', () => {
    const line = files[0]?.hunks[0]?.lines[0]
    expect(line && marksIn({ ...line, text: 'aXbxX' }, 'x')).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 4 },
      { from: 4, to: 5 },
    ])
  })

  test('finds nothing where nothing is looked for, and no end of it is counted', () => {
    expect(findInDiff(files, '')).toEqual([])
    const diff = `@@ -0,0 +1 @@\n+${'x'.repeat(maxMatches + 10)}\n`
    expect(findInDiff(readDiffs([fileOf('x', { diff })]), 'x')).toHaveLength(maxMatches)
  })
})
