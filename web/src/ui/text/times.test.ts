import { afterEach, describe, expect, test, vi } from 'vitest'
import { age, dayLabel, messageTime, shortDate } from './times.ts'
import { dateAndTime, dayOf, fullDate, lasting, zoneAt } from './dates.ts'

const at = '2026-03-10T09:05:00'
const seconds = (count: number) => Date.parse(at) + 1_000 * count

describe('how long ago something was', () => {
  // Holds contract 9.21; screens 2.48b.
  test.each([
    [0, 'Just now', 'Just now'],
    [59, 'Just now', 'Just now'],
    [60, '1m ago', '1m ago'],
    [3_599, '59m ago', '59m ago'],
    [3_600, '1h ago', '1h ago'],
    [86_399, '23h ago', '23h ago'],
    [86_400, '1d ago', '09:05'],
    [10 * 86_400, '10d ago', '09:05'],
  ])('%i seconds: %s in lists, %s in the chat', (passed, inLists, inChat) => {
    expect(age(at, seconds(passed))).toBe(inLists)
    expect(messageTime(at, seconds(passed))).toBe(inChat)
  })
})

// Holds screens 2.48a.
test('a day is Today, Yesterday, or its weekday, month and day', () => {
  expect(dayLabel(at, Date.parse('2026-03-10T23:59:00'))).toBe('Today')
  expect(dayLabel(at, Date.parse('2026-03-11T00:01:00'))).toBe('Yesterday')
  expect(dayLabel(at, Date.parse('2026-03-12T00:01:00'))).toBe('Tuesday, March 10')
})

describe('the day after the clocks were changed', () => {
  afterEach(() => vi.unstubAllEnvs())

  test.each([
    ['spring', '2026-03-08T12:00:00Z', '2026-03-09T04:30:00Z'],
    ['autumn', '2026-10-31T12:00:00Z', '2026-11-02T04:30:00Z'],
  ])('Yesterday is the day before also in the %s', (_, then, now) => {
    vi.stubEnv('TZ', 'America/New_York')
    expect(dayLabel(then, Date.parse(now))).toBe('Yesterday')
  })
})

// Holds screens 2.33d.
test('a date is a short month and day, or N/A', () => {
  expect(shortDate(at)).toBe('Mar 10')
  for (const none of [null, undefined, '', 'soon']) expect(shortDate(none)).toBe('N/A')
})

describe('a date with its zone', () => {
  afterEach(() => vi.restoreAllMocks())

  test.each([
    [0, 'UTC'],
    [-60, 'UTC+1'],
    [210, 'UTC−3:30'],
  ])('%i minutes from UTC is %s', (minutes, zone) => {
    vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(minutes)
    expect(zoneAt(at)).toBe(zone)
    expect(dateAndTime(at)).toBe(`Mar 10, 2026, 09:05:00 ${zone}`)
  })

  test('a day is told from another by its year too', () => {
    expect(fullDate(at)).toBe('Tuesday, March 10, 2026')
    expect(dayOf(at)).toBe(dayOf('2026-03-10T23:59:00'))
    expect(dayOf(at)).not.toBe(dayOf('2025-03-10T09:05:00'))
  })
})

test.each([
  [40_000, '40 s'],
  [500_000, '8 min'],
  [7_500_000, '2 h 05 min'],
  [100 * 3_600_000, '4 d 4 h'],
])('%i ms last %s', (ms, words) => expect(lasting(ms)).toBe(words))
