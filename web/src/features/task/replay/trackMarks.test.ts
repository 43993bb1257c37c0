import { expect, test } from 'vitest'
import { timeAxisOf } from '#domain/history/timeAxis.ts'
import { clockMarks, namedBreaks } from './trackMarks.ts'

const turn = (number: number, percent: number) => ({
  marker: { kind: 'turn', revision: number, label: `Turn ${number}` } as const,
  percent,
})

test('recorder point 13: the clock is read at turns, and between them where there is room', () => {
  const axis = timeAxisOf(Array.from({ length: 101 }, (_, second) => 1_000 * second))
  const marks = clockMarks(axis, [turn(1, 0), turn(2, 5), turn(3, 50)], 20)
  expect(marks.map(({ percent, turn: of }) => [Math.round(percent), of?.label ?? null])).toEqual([
    [0, 'Turn 1'],
    [25, null],
    [50, 'Turn 3'],
    [75, null],
  ])
  for (const { percent, time } of marks) expect(time).toBeCloseTo(1_000 * percent)
})

test('recorder point 13: the longest breaks have their length written at them', () => {
  const minutes = (count: number) => 60_000 * count
  const axis = timeAxisOf([0, 20_000, minutes(3), minutes(10), minutes(10) + 4_000, minutes(30)])
  expect(namedBreaks(axis, 5).map(({ ms }) => Math.round(ms / 60_000))).toEqual([20, 7, 3])
  expect(namedBreaks(axis, 40).map(({ ms }) => Math.round(ms / 60_000))).toEqual([7])
  expect(namedBreaks(timeAxisOf([]), 5)).toEqual([])
})
