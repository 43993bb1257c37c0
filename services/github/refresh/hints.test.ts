/** When what was hinted at is read. */
import { expect, test } from 'vitest'
import { hints } from './hints.ts'

const times = { restMs: 2, againMs: 60 }

test('a burst of hints is one reading, which later hints do not put off', () => {
  const hinted = hints(times, 10)
  for (let now = 0; now < 2; now += 1) hinted.add('1', 'soon', now)
  expect(hinted.dueAt()).toBe(2)
  expect(hinted.take(1)).toEqual([])
  expect(hinted.take(2)).toEqual(['1'])
  expect(hinted.dueAt()).toBe(undefined)
})

test('hints that count now and then lead to a reading at most so often; others lead to one soon', () => {
  const hinted = hints(times, 10)
  hinted.add('1', 'now and then', 0)
  expect(hinted.take(2)).toEqual(['1'])
  hinted.add('1', 'now and then', 3)
  hinted.add('2', 'now and then', 3)
  expect(hinted.take(5)).toEqual(['2'])
  expect(hinted.dueAt()).toBe(62)
  hinted.add('1', 'soon', 6)
  expect(hinted.take(8)).toEqual(['1'])
  hinted.add('1', 'now and then', 200)
  expect(hinted.take(202)).toEqual(['1'])
})

test('what could not be read is due again, and there are never more than were allowed', () => {
  const hinted = hints(times, 2)
  for (const id of ['1', '2', '3']) hinted.add(id, 'soon', 0)
  expect(hinted.take(2)).toEqual(['1', '2'])
  expect(['1', '2', '3'].map((id) => hinted.keep(id, 3))).toEqual([true, true, false])
  expect(hinted.dueAt()).toBe(63)
  expect(hinted.take(63)).toEqual(['1', '2'])
})
