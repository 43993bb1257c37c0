import { expect, test } from 'vitest'
import { untilNext } from './diskWatch.ts'

test.each([
  ['a quick measurement', 5, 2_000],
  ['one that took its time', 500, 5_000],
  ['one that was starved by what it measures', 6_000, 15_000],
  ['one that was given up after a minute', 60_000, 15_000],
])('finding 5: after %s the next is due in time', (_, tookMs, expected) => {
  expect(untilNext(tookMs)).toBe(expected)
})
