/** What charts show: axes that hold every bar, figures in words, and labels for groups without a name. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noFigures } from '#domain/figures.ts'
import { queryIn } from '../Figures.tsx'
import {
  axisEnd,
  charts,
  compact,
  dollars,
  dollarsPer,
  percent,
  rowsOf,
  stackOf,
  timeAxisEnd,
} from './chartData.ts'

test('an axis ends at a round number, at or above the highest value and not far above it', () =>
  fc.assert(
    fc.property(fc.double({ min: 2, max: 1e12, noNaN: true }), (highest) => {
      const end = axisEnd(highest, 2)
      expect(end).toBeGreaterThanOrEqual(highest * (1 - 1e-9))
      expect(end).toBeLessThanOrEqual(highest * 2.000001)
    }),
  ))

test.each([
  ['turns', 3, ['4', '2']],
  ['turns', 1, ['2', '1']],
  ['turns', 0, ['2', '1']],
  ['turns', 100, ['100', '50']],
  ['tokens', 20_556, ['40k', '20k']],
  ['cost', 0.09, ['$0.10', '$0.05']],
  ['cost', 0.021, ['$0.04', '$0.02']],
  ['cost', 0.001, ['$0.02', '$0.01']],
] as const)('the axis of %s up to %s says what is at its end and in its middle', (id, highest, says) => {
  const chart = charts.find((one) => one.id === id)
  const end = axisEnd(highest, chart?.least ?? 0)
  expect([end, end / 2].map((value) => chart?.format(value))).toEqual(says)
})

test('an axis of times ends where people count to', () => {
  expect([0, 800, 61_000, 3_000_000, 40_000_000].map(timeAxisEnd)).toEqual([
    1_000, 1_000, 120_000, 3_600_000, 72_000_000,
  ])
})

test.each([
  [0, '$0.00'],
  [0.004, '<$0.01'],
  [1.999, '$2.00'],
  [1234.5, '$1,234.50'],
])('%s dollars are %s', (value, text) => expect(dollars(value)).toBe(text))

test.each([
  [0, '0'],
  [950, '950'],
  [1_240, '1.2k'],
  [628_000, '628k'],
  [999_600, '1M'],
  [1_240_000, '1.2M'],
])('%s is %s where there is little room', (count, text) => expect(compact(count)).toBe(text))

test('there is no share of nothing, and no cost per pull request without one', () => {
  expect([percent(2, 3), percent(0, 0)]).toEqual(['67%', null])
  expect(dollarsPer({ costUsd: 3 }, 0)).toBeNull()
  expect(dollarsPer({ costUsd: 3 }, 2)).toBe('$1.50')
})

test('the times of turns are averages over those that have ended', () => {
  const figures = { ...noFigures, turns: 4, completed: 2, failed: 1, waitingMs: 3_000, runningMs: 60_000 }
  const time = charts.find(({ id }) => id === 'time')
  expect(time && stackOf(time, figures)).toBe(21_000)
  expect(time?.columns.map((column) => column.cell(figures))).toEqual(['1.0s', '20.0s'])
  expect(time?.columns.map((column) => column.cell(noFigures))).toEqual([null, null])
})

test('costs are told apart by who paid', () => {
  const figures = { ...noFigures, costUsd: 7, serverCostUsd: 4, projectCostUsd: 2, personCostUsd: 1 }
  const cost = charts.find(({ id }) => id === 'cost')
  expect(cost && stackOf(cost, figures)).toBe(7)
  expect(cost?.columns.slice(0, 4).map((column) => [column.name, column.cell(figures)])).toEqual([
    ['Cost', '$7.00'],
    ['This server', '$4.00'],
    ['Keys of projects', '$2.00'],
    ['Own keys', '$1.00'],
  ])
})

test('groups have names; those that were deleted or are not known say so', () => {
  const group = (key: string | null, name: string | null) => ({ key, name, figures: noFigures })
  const labels = (...args: Parameters<typeof rowsOf>) => rowsOf(...args).map(({ label }) => label)
  expect(labels('project', [group('p', 'handbook'), group('q', null)], null)).toEqual([
    'handbook',
    'Deleted project',
  ])
  expect(labels('person', [group('u', null)], { groups: 3, figures: noFigures })).toEqual([
    'Deleted account',
    '3 others',
  ])
  expect(labels('model', [group(null, null)], null)).toEqual(['Unknown model'])
  expect(labels('agent', [group('claude', 'claude')], null)).toEqual(['Claude'])
  expect(labels('payer', [group('person', null), group('server', null)], null)).toEqual([
    'Own keys',
    'This server',
  ])
  expect(labels('week', [group('2026-11-02', null)], null)).toEqual(['Week of Nov 2'])
})

describe('what the address says', () => {
  const today = '2026-11-25'
  const read = (search: string) => queryIn(new URLSearchParams(search), today)
  const usual = { from: '2026-09-07', to: today, by: 'week', scope: 'own' }

  test('nothing means the last twelve weeks, one’s own, by week', () => expect(read('')).toEqual(usual))

  test('is kept', () =>
    expect(read('from=2026-01-05&to=2026-02-01&by=model&scope=all')).toEqual({
      from: '2026-01-05',
      to: '2026-02-01',
      by: 'model',
      scope: 'all',
    }))

  test.each([
    'from=yesterday',
    'by=colour',
    'scope=none',
    'from=2026-12-01',
    'to=2026-13-45',
    'to=2026-02-31',
  ])('that is not valid is as if it were not there: %s', (search) => expect(read(search)).toEqual(usual))
})
