import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { recorded } from '../../tests/domain/recorded.ts'
import { executionId, taskId } from '../../tests/domain/ids.ts'
import { TaskUpdated } from '../task/events.ts'
import { TerminalOutputRecorded } from '../task/terminalEvents.ts'
import { terminalItemOf, type HistoryItem, type TaskEventItem, type TerminalItem } from './item.ts'
import { indexOfMoment, momentAfter, momentOf, sinceEvent } from './moments.ts'
import { merged, withNewer } from './order.ts'

const event = (revision: number): TaskEventItem => ({
  kind: 'event',
  event: recorded(TaskUpdated.of({}, { title: `${revision}`, description: '' }), { revision }),
})

/** An event of the terminal that follows a revision of the task's stream. */
function output(revision: number, follows: number): TerminalItem {
  const data = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  const place = { revision, stream: `terminal-${taskId(1)}` }
  const printed = recorded(TerminalOutputRecorded.of(data, { text: 'words' }), place)
  return terminalItemOf({ ...printed, meta: { ...printed.meta, follows } })
}

const named = (items: readonly HistoryItem[]) => items.map(momentOf)

/** Two streams, where each terminal event follows a revision that is there, and `follows` never falls. */
const streams = fc
  .record({ events: fc.integer({ min: 1, max: 20 }), after: fc.array(fc.nat(19), { maxLength: 30 }) })
  .map(({ events, after }) => ({
    events: Array.from({ length: events }, (_, revision) => event(revision)),
    terminal: after
      .map((follows) => follows % events)
      .toSorted((a, b) => a - b)
      .map((follows, revision) => output(revision, follows)),
  }))

test('an event of the terminal comes after the event that it follows, and before the next', () => {
  expect(named(merged([event(0), event(1), event(2)], [output(0, 0), output(1, 1), output(2, 1)]))).toEqual([
    '0',
    't0',
    '1',
    't1',
    't2',
    '2',
  ])
})

test('what follows an event that is missing comes after all that are there', () => {
  expect(named(merged([event(0)], [output(0, 4)]))).toEqual(['0', 't0'])
})

test('what comes later is put where it would have been', () =>
  fc.assert(
    fc.property(streams, fc.nat(), fc.nat(), ({ events, terminal }, a, b) => {
      const cut = a % (events.length + 1)
      // What the terminal follows is known before it.
      const followers = terminal.filter(({ follows }) => follows < cut).length
      const printed = b % (followers + 1)
      const known = merged(events.slice(0, cut), terminal.slice(0, printed))
      const newer = merged(events.slice(cut), terminal.slice(printed))
      const { items, from } = withNewer(known, newer)
      expect(named(items)).toEqual(named(merged(events, terminal)))
      expect(named(items.slice(0, from))).toEqual(named(known.slice(0, from)))
    }),
  ))

test('every event is found by the name of its moment', () =>
  fc.assert(
    fc.property(streams, ({ events, terminal }) => {
      const items = merged(events, terminal)
      expect(items.map((item) => indexOfMoment(items, momentOf(item)))).toEqual(
        items.map((_, index) => index),
      )
    }),
  ))

test('recorder point 15: a moment between events is named by the one before, and the seconds since', () => {
  const items = [event(0), output(0, 0), event(1)]
  expect([momentAfter('1', 999), momentAfter('1', 12_700), momentAfter('t0', 60_000)]).toEqual([
    '1',
    '1+12s',
    't0+60s',
  ])
  expect(['1', '1+12s', 't0+60s'].map((name) => [indexOfMoment(items, name), sinceEvent(name)])).toEqual([
    [2, 0],
    [2, 12_000],
    [1, 60_000],
  ])
})

test.each(['', 'x', '-1', 't', '99', 't99', '1e1', '1+', '1+s', '1+-2s', '1 2s'])(
  '“%s” names no moment',
  (moment) => {
    expect(indexOfMoment([event(0), output(0, 0), event(1)], moment)).toBe(-1)
  },
)
