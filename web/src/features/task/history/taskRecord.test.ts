import { describe, expect, test } from 'vitest'
import { type TaskRecord, describeRecord } from './taskRecord.ts'

const now = Date.UTC(2026, 0, 1, 12)
const at = (secondsAgo: number) => new Date(now - 1_000 * secondsAgo).toISOString()
const good: TaskRecord = {
  events: 249,
  checked: { at: at(3), events: 249 },
  damage: null,
  isSealing: true,
  seal: { at: at(8), events: 249 },
  key: '39a8 1f22 0000 0000 0000 0000 0000 0000',
}
const said = (record: TaskRecord | null, failure: string | null = null) => {
  const { state, words } = describeRecord(record, failure, now)
  return `${state}: ${words.join(' · ')}`
}

describe('recorder point 1: the state of the record', () => {
  test.each<[string, Partial<TaskRecord>, string]>([
    ['sealed', {}, 'good: Sealed 8 s ago · verified by this server · key 39a8 1f22…'],
    [
      'checked in part',
      { checked: { at: at(3), events: 100 } },
      'waiting: Sealed 8 s ago · checked 100 of 249 events · key 39a8 1f22…',
    ],
    [
      'not sealed to its end',
      { seal: { at: at(8), events: 248 } },
      'waiting: The newest 1 event is not sealed yet · verified by this server · key 39a8 1f22…',
    ],
    ['never sealed', { seal: null, key: null }, 'waiting: Not sealed yet · verified by this server'],
    [
      'not to be sealed',
      { seal: null, key: null, isSealing: false },
      'off: Sealing is off on this server · verified by this server',
    ],
    [
      'damaged',
      { damage: { stream: 'task', revision: 48 } },
      'damaged: Record damaged: event 48 of the task is not as it was recorded',
    ],
  ])('%s', (_state, more, words) => expect(said({ ...good, ...more })).toBe(words))

  test('is unknown until it is read, and old where it cannot be read again', () => {
    expect(said(null)).toBe('unknown: Reading the state of the record')
    expect(said(null, 'Offline')).toBe('unknown: Offline')
    expect(said(good, 'Offline')).toContain('as it was known last')
  })
})
