import { expect, test } from 'vitest'
import { lineAfter, readChanges } from './commentPlaces.ts'

const changes = readChanges(
  ['@@ -0,0 +1,2 @@', '+a', '+b', '@@ -5 +7 @@', '-old', '+new', '@@ -10,2 +11,0 @@', '-x', '-y'].join('\n'),
)

test.each([
  [1, 3],
  [4, 6],
  [5, undefined],
  [6, 8],
  [9, 11],
  [10, undefined],
  [11, undefined],
  [12, 12],
])('line %i is then at %s', (before, after) => {
  expect(lineAfter(changes, before)).toBe(after)
})

test('lines stay where nothing changed', () => {
  expect(lineAfter(readChanges(''), 7)).toBe(7)
})

test('an insertion moves only what is below it', () => {
  const inserted = readChanges('@@ -3,0 +4,5 @@\n+1')
  expect([3, 4].map((line) => lineAfter(inserted, line))).toEqual([3, 9])
})
