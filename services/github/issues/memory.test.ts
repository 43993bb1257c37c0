/** The memory of which issues were read: each has its turn, and none is skipped after a restart. */
import { LRUCache } from 'lru-cache'
import { afterEach, expect, test, vi } from 'vitest'
import { noIssues } from '#domain/project/issues.ts'
import { dueOf, memories, memoryOf, noteOutcome, readUpTo } from './memory.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const at = (minute: number) => `2026-01-31T12:${String(minute).padStart(2, '0')}:00Z`

test('whose turn was longest ago comes first, so that each of many is asked for before any is twice', () => {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const checkedAt = new LRUCache<string, number>({ max: 100 })
  const all = Array.from({ length: 60 }, (_, n) => `${n}`)
  const asked: string[] = []
  // Each round checks three issues and takes 61 seconds. An issue is due again after ten minutes.
  for (let round = 0; round < 40; round += 1) {
    for (const id of dueOf({ checkedAt }, all, (one) => one, 600_000).slice(0, 3)) {
      checkedAt.set(id, now)
      asked.push(id)
    }
    now += 61_000
  }
  expect(asked.slice(0, 60)).toEqual(all)
  expect(asked.slice(60)).toEqual(all)
})

test('what was asked for just now is asked for a while later, and what waits for nothing is forgotten', () => {
  const memory = memoryOf(memories(), 'p', noIssues)
  const due = () => dueOf(memory, ['1'], (one) => one, 1_000_000)
  for (const outcome of ['passes', 'unasked'] as const) {
    noteOutcome(memory, { id: '1', number: 1, updatedAt: null }, outcome)
    expect(due()).toEqual([])
  }
  noteOutcome(memory, { id: '1', number: 1, updatedAt: null }, 'done')
  expect(due()).toEqual(['1'])
  expect(memory.checkedAt.size + memory.unasked.size).toBe(0)
})

test('a restart reads again from the first that was passed over as nobody could be asked', () => {
  const memory = memoryOf(memories(), 'p', noIssues)
  memory.since = at(9)
  expect(readUpTo(memory)).toBe(at(9))
  noteOutcome(memory, { id: '1', number: 1, updatedAt: at(5) }, 'unasked')
  noteOutcome(memory, { id: '2', number: 2, updatedAt: at(3) }, 'unasked')
  // An issue without a time is in the log, so a restart does not lose it.
  noteOutcome(memory, { id: '3', number: 3, updatedAt: null }, 'unasked')
  expect(readUpTo(memory)).toBe(at(3))
  // The issue has changed since, but its accounts still could not be checked.
  noteOutcome(memory, { id: '2', number: 2, updatedAt: at(8) }, 'unasked')
  expect(readUpTo(memory)).toBe(at(3))
  noteOutcome(memory, { id: '2', number: 2, updatedAt: at(8) }, 'passes')
  expect(readUpTo(memory)).toBe(at(5))
})
