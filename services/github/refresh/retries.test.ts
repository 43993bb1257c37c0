/** When a read that failed, or did not reach its end, is repeated. */
import { expect, test } from 'vitest'
import { retries } from './retries.ts'

test('pauses double, until the next reading of all comes sooner; then they begin anew', () => {
  const again = retries(100, 10)
  let now = 0
  const pauses = Array.from({ length: 5 }, () => {
    again.put('1', 10, now)
    const dueAt = again.dueAt()
    if (dueAt === undefined) return null
    expect(again.take(dueAt - 1)).toEqual([])
    expect(again.take(dueAt)).toEqual(['1'])
    expect(again.dueAt()).toBeUndefined()
    const pause = dueAt - now
    now = dueAt
    return pause
  })
  expect(pauses).toEqual([10, 20, 40, 80, null])
  again.put('1', 10, now)
  expect(again.dueAt()).toBe(now + 10)
})

test('what was read to its end waits no longer, and its next pause is a short one', () => {
  const again = retries(100, 10)
  again.put('1', 10, 0)
  again.settle('1')
  expect(again.take(50)).toEqual([])
  again.put('1', 10, 50)
  expect(again.dueAt()).toBe(60)
})

test('there are never more than were allowed', () => {
  const again = retries(100, 2)
  for (const id of ['1', '2', '3']) again.put(id, 10, 0)
  expect(again.take(10)).toEqual(['1', '2'])
})

test('what was not tried is due again after the same pause, and without one after the pause that is said', () => {
  const again = retries(100, 10)
  again.put('1', 10, 0)
  expect(again.take(10)).toEqual(['1'])
  again.keep('1', 30, 10)
  expect(again.dueAt()).toBe(20)
  again.settle('1')
  again.keep('2', 30, 20)
  expect(again.dueAt()).toBe(50)
})
