import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { densityOf, idleMs, indexAt, positionAfter, squeezedMs, timeAt, timeAxisOf } from './timeAxis.ts'

const times = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 60 })

describe('the time axis', () => {
  test('runs as time did, and squeezes what was idle', () => {
    const { positions, length, idles } = timeAxisOf([1_000, 1_500, 61_500, 62_000])
    expect([...positions]).toEqual([0, 500, 500 + squeezedMs, 1_000 + squeezedMs])
    expect(length).toBe(1_000 + squeezedMs)
    expect(idles).toEqual([{ from: 500, to: 500 + squeezedMs, ms: 60_000 }])
  })

  test('squeezes nothing up to five seconds', () => {
    expect(timeAxisOf([0, idleMs]).idles).toEqual([])
    expect(timeAxisOf([0, idleMs + 1]).idles).toHaveLength(1)
  })

  test('never goes back, though clocks do', () => {
    expect([...timeAxisOf([10, 5, 20]).positions]).toEqual([0, 0, 10])
  })

  test('finds at the position of an event the last event there, at its time', () =>
    fc.assert(
      fc.property(times, (recorded) => {
        const axis = timeAxisOf(recorded)
        for (const [index, position] of axis.positions.entries()) {
          const found = indexAt(axis, position)
          expect(found).toBeGreaterThanOrEqual(index)
          expect(axis.positions[found]).toBe(position)
          expect(timeAt(axis, position)).toBe(axis.times[found])
        }
      }),
    ))

  test('goes on steadily within a stretch', () => {
    const axis = timeAxisOf([0, 60_000])
    expect(timeAt(axis, squeezedMs / 2)).toBe(30_000)
    expect(timeAt(timeAxisOf([7]), 100)).toBe(107)
  })

  test('recorder point 15: a time after an event has a place before the next', () =>
    fc.assert(
      fc.property(times, fc.nat(), fc.nat(120_000), (recorded, at, ms) => {
        const axis = timeAxisOf(recorded)
        const index = indexAt(axis, axis.positions[at % recorded.length] ?? 0)
        const position = positionAfter(axis, index, ms)
        expect(indexAt(axis, position)).toBe(index)
        const next = axis.times[index + 1] ?? axis.times[index] ?? 0
        const expected = Math.min((axis.times[index] ?? 0) + ms, Math.max(next - 1, axis.times[index] ?? 0))
        expect(timeAt(axis, position)).toBeCloseTo(expected, 3)
      }),
    ))

  test('counts every event in one part', () =>
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 40 }), (recorded, buckets) => {
        const density = densityOf(timeAxisOf(recorded), buckets)
        expect(density).toHaveLength(buckets)
        expect(density.reduce((sum, count) => sum + count, 0)).toBe(recorded.length)
      }),
    ))

  test('is empty where nothing happened', () => {
    const axis = timeAxisOf([])
    expect([axis.length, indexAt(axis, 0), timeAt(axis, 0)]).toEqual([0, -1, 0])
  })
})
